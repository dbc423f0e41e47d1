"""What Python programs allocate, keep and hold, recorded in real interpreters, against what is known of them.

    check_python.py LIBRARY PACKAGE INTERPRETER...
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from read_tables import read

LIBRARY, PACKAGE = sys.argv[1:3]
INTERPRETERS = sys.argv[3:]
MIB = 1024 * 1024

PRELUDE = """\
import os, sys
from sonde import _agent
_agent.start(os.environ["SONDE_RUN_DIR"])
"""


def total(sites, field):
    return sum(site[field] for site in sites)


class Run:
    """A script that has run; its lines are found by the marks behind them: "# name"."""

    def __init__(self, test, interpreter, script, preload=True, gap=0, code=0):
        self.folder = tempfile.mkdtemp(prefix="sonde-memory-")
        test.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "script.py")
        text = PRELUDE + textwrap.dedent(script)
        with open(self.path, "w") as file:
            file.write(text)
        self.marks = {line.split("# ")[1].strip(): number for number, line in enumerate(text.split("\n"), 1) if "# " in line}
        env = dict(os.environ, PYTHONPATH=PACKAGE, SONDE_RUN_DIR=os.path.join(self.folder, "run"), SONDE_MEMORY_LINES=str(gap))
        if preload:
            env["LD_PRELOAD"] = LIBRARY
        os.mkdir(env["SONDE_RUN_DIR"])
        done = subprocess.run([interpreter, "-B", self.path], env=env, capture_output=True, text=True, timeout=300)
        test.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        self.output = done.stdout
        self.memory = [read(path) for path in sorted(glob.glob(env["SONDE_RUN_DIR"] + "/*.memory"))]
        self.tables = [read(path) for path in sorted(glob.glob(env["SONDE_RUN_DIR"] + "/*.tables"))]

    def sites(self, mark, table=None):
        """The sites whose innermost frame is at that line of the script."""
        line = self.marks[mark]
        return [
            site
            for site in (table or self.memory[0])["sites"]
            if site["stack"] and site["stack"][0]["line"] == line and site["stack"][0]["file"] == self.path
        ]


KNOWN = """
_agent.start_memory_lines()
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

class Thing:
    __slots__ = ()

def kept():
    out = [None] * 1000000  # list
    for i in range(100000):
        out[i] = Thing()  # thing
    return out

def freed():
    for _ in range(100):
        block = bytearray(100000)  # churn

def peak():
    return bytearray(40 << 20)  # peak

def native():
    block = libc.malloc(7 << 20)  # leak
    other = libc.malloc(9 << 20)  # given
    libc.free(other)
    return block

def grown():
    out = []
    for i in range(200000):
        out.append(None)  # grown
    return out

keep = kept()
freed()
peak()
address = native()
more = grown()
"""


class Lines(unittest.TestCase):
    interpreter = None

    def check_known(self, run, exact, preload):
        sites = run.sites("list")
        # A million places, a list's head, and the list of one that is repeated.
        live = total(sites, "allocated_bytes") - total(sites, "freed_bytes")
        self.assertAlmostEqual(live / 8e6, 1, delta=0.00003 if exact else 0.001)
        things = run.sites("thing")
        # A thing without attributes: a head of 16 bytes, and the collector's where it tracks it.
        if exact:
            # Newer interpreters collect garbage between two lines, and need a little for it.
            self.assertAlmostEqual(total(things, "allocations") / 100000, 1, delta=0.01)
            self.assertGreaterEqual(total(things, "allocations"), 100000)
            self.assertIn(round(total(things, "allocated_bytes") / 100000), (16, 32))
        self.assertLess(total(things, "freed_bytes"), total(things, "allocated_bytes") * 0.03)
        churn = run.sites("churn")
        # The block, and the object around it. The last one lives until the function ends.
        if exact:
            # Now and then the interpreter's allocator needs a word for itself.
            self.assertIn(total(churn, "allocations"), range(200, 210))
            self.assertIn(total(churn, "allocated_bytes") - 100 * (100001 + 56), range(0, 500))
        else:
            self.assertAlmostEqual(total(churn, "allocated_bytes") / (100 * 100057), 1, delta=0.02)
        self.assertGreater(total(churn, "freed_bytes"), total(churn, "allocated_bytes") - 1000)
        peak = run.sites("peak")
        if exact:
            self.assertEqual(total(peak, "peak_bytes"), (40 << 20) + 1 + 56)
        else:
            self.assertAlmostEqual(total(peak, "peak_bytes") / (40 << 20), 1, delta=0.001)
        self.assertEqual(total(peak, "freed_bytes"), total(peak, "allocated_bytes"))
        grown = run.sites("grown")
        self.assertGreaterEqual(total(grown, "allocated_bytes") - total(grown, "freed_bytes"), 1600000 * 0.9)
        if preload:
            leak, given = run.sites("leak"), run.sites("given")
            self.assertTrue(all(site["memory"] == 1 for site in leak if site["allocated_bytes"] > MIB))
            native = [[site for site in sites if site["memory"] == 1] for sites in (leak, given)]
            self.assertAlmostEqual(total(native[0], "allocated_bytes") / (7 << 20), 1, delta=0.001)
            self.assertEqual(total(native[0], "freed_bytes"), 0)
            self.assertAlmostEqual(total(native[1], "allocated_bytes") / (9 << 20), 1, delta=0.001)
            self.assertEqual(total(native[1], "freed_bytes"), total(native[1], "allocated_bytes"))
        else:
            self.assertFalse([site for site in run.memory[0]["sites"] if site["memory"] == 1])
        # Bytes that left are never more than those that came.
        for site in run.memory[0]["sites"]:
            self.assertLessEqual(site["freed_bytes"], site["allocated_bytes"])
            self.assertLessEqual(site["peak_bytes"], site["allocated_bytes"])
        self.assertEqual(total(run.memory[0]["sites"], "peak_bytes"), int(run.memory[0]["properties"]["memory.peak_bytes"]))
        self.assertEqual(run.memory[0]["clean"], 1)

    def test_exact(self):
        for preload in (True, False):
            run = Run(self, self.interpreter, KNOWN, preload)
            self.assertEqual(len(run.memory), 1)
            self.check_known(run, True, preload)

    def test_samples(self):
        for preload in (True, False):
            run = Run(self, self.interpreter, KNOWN, preload, 4096)
            self.assertEqual(run.memory[0]["properties"]["memory.gap"], "4096")
            self.check_known(run, False, preload)
        # The usual gap sees what is large.
        run = Run(self, self.interpreter, KNOWN, True, 524288)
        self.assertAlmostEqual(total(run.sites("peak"), "peak_bytes") / (40 << 20), 1, delta=0.001)
        self.assertAlmostEqual(total(run.sites("list"), "allocated_bytes") / 8e6, 1, delta=0.001)

    def test_samples_are_not_biased(self):
        script = """
        _agent.start_memory_lines()
        def work():
            for i in range(400):
                x = [bytes(1000) for _ in range(500)]  # here
        work()
        """
        run = Run(self, self.interpreter, script, False, 65536)
        found = [site for site in run.memory[0]["sites"] if any(f["line"] == run.marks["here"] and f["file"] == run.path for f in site["stack"])]
        # 200000 blocks of 1033 bytes and the lists: 3300 samples, five standard deviations.
        self.assertAlmostEqual(total(found, "allocated_bytes") / (200000 * 1033 + 400 * 8856), 1, delta=0.09)

    def test_stacks(self):
        script = """
        _agent.start_memory_lines()
        def inner(n):
            return bytearray(3 << 20) if n == 0 else inner(n - 1)  # inner
        class Outer:
            def method(self):
                return inner(3)  # method
        def generator():
            yield Outer().method()  # generator
        kept = [x for x in generator()]  # top
        """
        run = Run(self, self.interpreter, script)
        (site,) = [site for site in run.sites("inner") if site["allocated_bytes"] > MIB]
        names = [frame["name"] for frame in site["stack"] if frame["name"] != "<listcomp>"]
        self.assertEqual(names, ["inner"] * 4 + ["method", "generator", "<module>"])
        lines = [frame["line"] for frame in site["stack"] if frame["name"] != "<listcomp>"]
        self.assertEqual(lines, [run.marks[mark] for mark in ["inner"] * 4 + ["method", "generator", "top"]])

    def test_threads(self):
        script = """
        import threading
        _agent.start_memory_lines()
        def work():
            for i in range(200):
                x = bytearray(20000)  # here
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads: t.start()
        for t in threads: t.join()
        """
        run = Run(self, self.interpreter, script)
        here = run.sites("here")
        self.assertEqual(total(here, "allocations"), 3200)
        self.assertEqual(total(here, "allocated_bytes"), 1600 * (20001 + 56))
        self.assertEqual(total(here, "freed_bytes"), total(here, "allocated_bytes"))

    def test_forks(self):
        script = """
        import multiprocessing, os
        _agent.start_memory_lines()
        before = bytearray(5 << 20)  # before
        def child(n):
            global before
            before = None
            keep = bytearray(n << 20)  # child
            return len(keep)
        for i in range(3):
            pid = os.fork()
            if pid == 0:
                child(i + 1)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            assert pool.map(child, [4, 4, 4]) == [4 << 20] * 3
        """
        run = Run(self, self.interpreter, script)
        parent = [table for table in run.memory if run.sites("before", table)]
        self.assertEqual(len(parent), 1)
        self.assertEqual(total(run.sites("before", parent[0]), "freed_bytes"), 0)
        grown = sorted(total(run.sites("child", table), "allocated_bytes") >> 20 for table in run.memory if table is not parent[0])
        self.assertEqual([n for n in grown if n <= 3 and n > 0], [1, 2, 3])
        self.assertEqual(sum(n for n in grown if n > 3), 12)

    def test_pauses(self):
        script = """
        _agent.start_memory_lines()
        a = bytearray(2 << 20)  # first
        _agent.stop_memory_lines()
        b = bytearray(3 << 20)  # unseen
        del a
        _agent.start_memory_lines()
        c = bytearray(4 << 20)  # second
        totals = _agent.memory_totals()
        assert totals["live_bytes"] >= 6 << 20, totals
        _agent.stop()
        _agent.stop()
        _agent.start(os.environ["SONDE_RUN_DIR"])
        _agent.start_memory_lines()
        d = bytearray(5 << 20)  # third
        """
        run = Run(self, self.interpreter, script)
        self.assertEqual(len(run.memory), 2)
        first, second = run.memory
        self.assertEqual(total(run.sites("first", first), "allocated_bytes") >> 20, 2)
        self.assertEqual(total(run.sites("first", first), "freed_bytes"), 0)
        self.assertFalse(run.sites("unseen", first))
        self.assertEqual(total(run.sites("second", first), "allocated_bytes") >> 20, 4)
        self.assertEqual(total(run.sites("third", second), "allocated_bytes") >> 20, 5)

    def test_a_killed_program_loses_nothing(self):
        script = """
        import signal
        _agent.start_memory_lines()
        keep = bytearray(6 << 20)  # keep
        os.kill(os.getpid(), signal.SIGKILL)
        """
        run = Run(self, self.interpreter, script, code=-9)
        self.assertEqual(total(run.sites("keep"), "allocated_bytes") >> 20, 6)
        self.assertEqual(total(run.sites("keep"), "peak_bytes") >> 20, 6)
        self.assertEqual(run.memory[0]["clean"], 0)

    def test_names_that_are_not_ascii(self):
        script = """
        _agent.start_memory_lines()
        def größe_ф():
            return bytearray(2 << 20)  # here
        keep = größe_ф()
        """
        run = Run(self, self.interpreter, script)
        self.assertEqual(run.sites("here")[0]["stack"][0]["name"], "größe_ф")

    def test_numpy(self):
        if subprocess.run([self.interpreter, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no numpy")
        script = """
        import numpy
        _agent.start_memory_lines()
        keep = numpy.empty((1024, 1024))  # array
        view = keep[::2]
        objects = _agent.snapshot_objects("now")
        print(objects["numpy.ndarray"])
        """
        run = Run(self, self.interpreter, script)
        native = [site for site in run.sites("array") if site["memory"] == 1]
        self.assertEqual(total(native, "allocated_bytes") >> 20, 8)
        self.assertGreaterEqual(int(run.output.strip("()\n").split(", ")[1]), 8 << 20)
        self.assertLess(int(run.output.strip("()\n").split(", ")[1]), 12 << 20)


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


class Objects(unittest.TestCase):
    interpreter = None

    def test_against_the_rule_in_python(self):
        script = """
        import gc
        class Thing:
            def __init__(self): self.word = "w" + str(id(self))
        class Odd:
            def __sizeof__(self): raise ValueError("no")
        things = [Thing() for _ in range(1234)]
        tuples = [("a" + str(i), float(i)) for i in range(500)]
        odd = Odd()
        gc.collect()
        found = _agent.snapshot_objects("now")
        assert found["__main__.Thing"] == (1234, 1234 * sys.getsizeof(things[0])), found["__main__.Thing"]
        assert found["__main__.Odd"][0] == 1
        def rule():
            seen, pending = {}, [o for o in gc.get_objects() if not type(o).__name__ == "frame"]
            while pending:
                o = pending.pop()
                if id(o) in seen: continue
                seen[id(o)] = o
                pending += [r for r in gc.get_referents(o) if not gc.is_tracked(r)] if type(o).__flags__ & (1 << 14) else []
            sums = {}
            for o in seen.values():
                name = type(o).__module__ + "." + type(o).__qualname__
                if name == "__main__.Odd": continue
                count, size = sums.get(name, (0, 0))
                sums[name] = count + 1, size + sys.getsizeof(o)
            return sums
        mine = rule()
        # The rule's own objects, and what the interpreter makes by the way, differ.
        for name in ("builtins.str", "builtins.float", "builtins.type", "builtins.function", "builtins.code", "builtins.module",
                     "builtins.builtin_function_or_method", "__main__.Thing"):
            count, size = found[name]
            assert abs(count - mine[name][0]) <= 20 + count // 200, (name, found[name], mine[name])
            assert abs(size - mine[name][1]) <= 4000 + size // 100, (name, found[name], mine[name])
        """
        run = Run(self, self.interpreter, script)
        (shot,) = run.tables[0]["snapshots"]
        self.assertEqual(shot["label"], "now")
        self.assertEqual(shot["types"]["__main__.Thing"][0], 1234)

    def test_start_peak_and_end(self):
        script = """
        import time
        class Passing: pass
        class Staying: pass
        _agent.start_objects()
        keep = [Staying() for _ in range(1000)]
        many = [Passing() for _ in range(300000)]
        for _ in range(100):
            time.sleep(0.05)
            words = [str(i) for i in range(100)]
        del many
        """
        run = Run(self, self.interpreter, script)
        shots = {shot["label"]: shot["types"] for shot in run.tables[0]["snapshots"]}
        self.assertEqual(sorted(shots), ["end", "peak", "start"])
        self.assertNotIn("__main__.Passing", shots["start"])
        # Within a twentieth of the process's memory, and of what the snapshots themselves needed.
        self.assertGreater(shots["peak"]["__main__.Passing"][0], 200000)
        self.assertEqual(shots["end"]["__main__.Staying"][0], 1000)
        self.assertEqual(shots["end"].get("__main__.Passing", (0, 0))[0], 0)
        self.assertEqual(len(run.tables[0]["snapshots"]), 3)

    def test_what_a_snapshot_needs_is_not_the_programs(self):
        script = """
        things = [{} for _ in range(100000)]
        _agent.start_memory_lines()
        _agent.snapshot_objects("now")  # here
        """
        run = Run(self, self.interpreter, script)
        self.assertLess(total(run.sites("here"), "allocated_bytes"), 200000)

    def test_tensors_count_their_storage_once(self):
        script = """
        import types
        torch = types.ModuleType("torch")
        class Storage:
            def __init__(self, address, size): self.a, self.s = address, size
            def data_ptr(self): return self.a
            def nbytes(self): return self.s
        class Tensor:
            is_cpu = True
            def __init__(self, storage): self.storage = storage
            def untyped_storage(self): return self.storage
        class DeviceTensor(Tensor):
            is_cpu = False
        Tensor.__module__ = DeviceTensor.__module__ = "torch"
        torch.Tensor = Tensor
        sys.modules["torch"] = torch
        shared = Storage(4096, 1000000)
        keep = [Tensor(shared), Tensor(shared), Tensor(Storage(8192, 500)), DeviceTensor(Storage(1, 70000))]
        found = _agent.snapshot_objects("now")
        size = sys.getsizeof(keep[0])
        assert found["torch.Tensor"] == (3, 1000500 + 3 * size), found["torch.Tensor"]
        assert found["torch.DeviceTensor (on a device)"] == (1, 70000 + size), found
        """
        Run(self, self.interpreter, script)

    def test_forked_children_have_their_own(self):
        script = """
        class Thing: pass
        _agent.start_objects()
        pid = os.fork()
        if pid == 0:
            keep = [Thing() for _ in range(77)]
            sys.exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        """
        run = Run(self, self.interpreter, script)
        ends = sorted(shot["types"].get("__main__.Thing", (0, 0))[0]
                      for table in run.tables for shot in table["snapshots"] if shot["label"] == "end")
        self.assertEqual(ends, [0, 77])


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for interpreter in INTERPRETERS:
        for case in (Lines, LineMemory, Objects):
            version = subprocess.run([interpreter, "-V"], capture_output=True, text=True).stdout.split()[-1].replace(".", "_")
            named = type(case.__name__ + "_" + version, (case,), {"interpreter": interpreter})
            suite.addTests(loader.loadTestsFromTestCase(named))
    return suite


if __name__ == "__main__":
    if not INTERPRETERS:
        print("no interpreter that an agent was built for")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
