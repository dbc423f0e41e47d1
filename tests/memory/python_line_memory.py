"""The process's memory after each line."""

import json
import subprocess
import unittest

from python_run import MIB, Run


class LineMemory(unittest.TestCase):
    interpreter = None

    def test_like_memory_profiler(self):
        script = """
        def work():  # def
            a = [0] * (2 << 20)  # list
            b = bytearray(50 << 20)  # block
            del b  # delete
            for i in range(3):  # loop
                c = bytes(1 << 20)  # body
            return a  # return
        _agent.add_memory_code(work.__code__)
        for turn in range(2):
            kept = work()
        def other():
            return bytearray(30 << 20)
        other()
        """
        run = Run(self, self.interpreter, script)
        rows = {row["line"]: row for row in run.tables[0]["memory_lines"]}
        by = {mark: rows[line] for mark, line in run.marks.items()}
        self.assertEqual(len(rows), len(run.marks))
        self.assertEqual({mark: row["hits"] for mark, row in by.items()},
                         {"def": 2, "list": 2, "block": 2, "delete": 2, "loop": 8, "body": 6, "return": 2})
        self.assertAlmostEqual(by["block"]["increment"] / (100 << 20), 1, delta=0.02)
        self.assertAlmostEqual(by["delete"]["increment"] / -(100 << 20), 1, delta=0.02)
        self.assertAlmostEqual(by["list"]["increment"] / (32 << 20), 1, delta=0.05)
        self.assertLess(abs(by["loop"]["increment"]), 2 * MIB)
        self.assertGreater(by["def"]["bytes"], 5 * MIB)
        self.assertGreater(by["block"]["peak"], by["delete"]["peak"] + (49 << 20) - 2 * MIB)
        # All the changes together are what was there in the end.
        self.assertEqual(sum(row["increment"] for row in rows.values()), by["return"]["bytes"])

    def test_occurrences_are_those_of_memory_profiler(self):
        if subprocess.run([self.interpreter, "-c", "import memory_profiler"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no memory_profiler")
        script = """
        import json, memory_profiler
        def work(n):
            a = []
            for i in range(n):
                a.append(i)
                if i % 2:
                    continue
                b = bytearray(1 << 20)
            try:
                raise KeyError
            except KeyError:
                c = [x * 2 for x in a]
            while n > 0:
                n -= 1
            with open(os.devnull) as f:
                f.read()
            return sorted(c, key=lambda x: -x)
        def gen(k):
            for j in range(k):
                yield j
        def rec(n):
            if n == 0:
                return 0
            return 1 + rec(n - 1)
        def fails():
            x = 1
            raise ValueError(x)
        functions = [work, gen, rec, fails]
        def run():
            work(5); work(3); list(gen(3)); rec(4)
            try: fails()
            except ValueError: pass
        profiler = memory_profiler.LineProfiler(backend="psutil")
        for f in functions: profiler.add_function(f)
        profiler.enable()
        run()
        profiler.disable()
        print(json.dumps({line: value[2] for _, lines in profiler.code_map.items() for line, value in lines if value}))
        for f in functions: _agent.add_memory_code(f.__code__)
        run()
        """
        run = Run(self, self.interpreter, script)
        expected = {int(line): count for line, count in json.loads(run.output).items()}
        self.assertEqual({row["line"]: row["hits"] for row in run.tables[0]["memory_lines"]}, expected)

    def test_by_prefix(self):
        script = """
        def work():
            return bytearray(8 << 20)  # block
        here = os.path.dirname(os.path.abspath(__file__))
        _agent.start_line_memory([here], [os.path.join(here, "not")])
        kept = work()
        import json, threading
        json.dumps([1])
        def gen():
            yield 1
            yield 2
        list(gen())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        try:
            raise KeyError(1)
        except KeyError:
            pass
        _agent.stop_line_memory()
        kept = work()
        """
        run = Run(self, self.interpreter, script)
        files = {row["file"] for row in run.tables[0]["memory_lines"]}
        self.assertEqual(files, {run.path})
        (block,) = [row for row in run.tables[0]["memory_lines"] if row["line"] == run.marks["block"]]
        self.assertEqual(block["hits"], 2)
        self.assertGreater(block["increment"], 7 * MIB)

    def test_another_tracer_keeps_its_events(self):
        script = """
        lines = []
        def tracer(frame, event, argument):
            if frame.f_code is work.__code__:
                lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            return tracer
        def work():
            a = 1
            return a
        sys.settrace(tracer)
        _agent.add_memory_code(work.__code__)
        work()
        assert lines == [("call", 0), ("line", 1), ("line", 2), ("return", 2)], lines
        _agent.stop_line_memory()
        assert sys.gettrace() is tracer
        del lines[:]
        work()
        assert len(lines) == 4, lines
        sys.settrace(None)
        """
        run = Run(self, self.interpreter, script)
        self.assertEqual(len(run.tables[0]["memory_lines"]), 3)
