"""sonde.profile(): recording from code."""

import json
import os
import pstats
import unittest

from support import ROOT, SANITIZED, Case, Events, main, needs_memory, needs_reader, python, tables

FIB = "import sonde\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n"


class Profile(Case):
    def test_counts_are_those_of_cprofile(self):
        self.good(
            FIB + "import cProfile, json\n"
            "def work():\n"
            "    fib(12)\n"
            "    sorted(range(50), key=lambda x: -x)\n"
            "    [abs(x) for x in range(20)]\n"
            "    list(x for x in range(5))\n"
            "with sonde.profile(folder='run'):\n"
            "    work()\n"
            "theirs = cProfile.Profile()\n"
            "theirs.enable()\n"
            "work()\n"
            "theirs.disable()\n"
            "counts = {}\n"
            "for entry in theirs.getstats():\n"
            "    name = entry.code if isinstance(entry.code, str) else entry.code.co_name\n"
            "    counts[name] = (entry.callcount, entry.reccallcount)\n"
            "json.dump(counts, open('counts.json', 'w'))\n"
        )
        with open(self.path("counts.json"), encoding="utf-8") as file:
            theirs = json.load(file)
        (table,) = tables(self.path("run"))
        ours = {name: sums[:2] for name, sums in table.functions.items()}
        for name in ("fib", "work", "<lambda>", "<genexpr>", "<built-in method builtins.sorted>", "<built-in method builtins.abs>"):
            self.assertEqual(ours[name], theirs[name], name)
        extra = set(ours) - set(theirs)
        self.assertLessEqual(len(extra), 2, "more than the end of the recording: %s" % extra)

    def test_several_recordings_one_after_the_other(self):
        self.good(
            FIB + "for i in range(3):\n"
            "    with sonde.profile(folder='run%d' % i) as p:\n"
            "        fib(i + 5)\n"
            "    assert p.path.endswith('run%d' % i), p.path\n"
            "    assert not p.running\n"
        )
        for i, calls in enumerate((15, 25, 41)):
            (table,) = tables(self.path("run%d" % i))
            self.assertEqual(table.calls("fib"), calls)

    def test_start_and_stop(self):
        self.good(
            FIB + "p = sonde.start(folder='run')\n"
            "assert p.running and p.start() is p\n"
            "fib(5)\n"
            "assert sonde.stop() is p and sonde.stop() is None\n"
            "p.stop()\n"
            "fib(20)\n"
        )
        (table,) = tables(self.path("run"))
        self.assertEqual(table.calls("fib"), 15)

    def test_inside_of_another_recording(self):
        self.good(
            FIB + "with sonde.profile(folder='run') as outer:\n"
            "    fib(5)\n"
            "    with sonde.profile(folder='ignored') as inner:\n"
            "        fib(5)\n"
            "    fib(5)\n"
            "assert inner.path == outer.path, (inner.path, outer.path)\n"
        )
        (table,) = tables(self.path("run"))
        self.assertEqual(table.calls("fib"), 45)
        self.assertFalse(os.path.exists(self.path("ignored")))

    def test_timeline_inside_of_another_recording(self):
        self.good(
            "import sonde\ndef before(): pass\ndef inside(): pass\ndef after(): pass\n"
            "with sonde.profile(folder='run'):\n"
            "    before()\n"
            "    with sonde.profile(timeline=True):\n"
            "        inside()\n"
            "    after()\n"
        )
        (table,) = tables(self.path("run"))
        self.assertEqual([table.calls(name) for name in ("before", "inside", "after")], [1, 1, 1])
        names = " ".join(event["name"] for event in Events(self.path("run")).slices())
        self.assertIn("inside", names)
        self.assertNotIn("before", names)
        self.assertNotIn("after", names)

    def test_exceptions_pass_and_end_the_recording(self):
        self.good(
            FIB + "try:\n"
            "    with sonde.profile(folder='run') as p:\n"
            "        fib(5)\n"
            "        1 / 0\n"
            "except ZeroDivisionError:\n"
            "    pass\n"
            "else:\n"
            "    raise SystemExit('lost')\n"
            "assert not p.running\n"
        )
        self.assertEqual(tables(self.path("run"))[0].calls("fib"), 15)

    def test_threads(self):
        self.good(
            FIB + "import threading\n"
            "before = threading.Event()\n"
            "def waits():\n"
            "    before.wait()\n"
            "    fib(6)\n"
            "old = threading.Thread(target=waits)\n"
            "old.start()\n"
            "with sonde.profile(folder='run'):\n"
            "    threads = [threading.Thread(target=fib, args=(8,)) for _ in range(4)]\n"
            "    for thread in threads: thread.start()\n"
            "    for thread in threads: thread.join()\n"
            "    before.set()\n"
            "    old.join()\n"
        )
        calls = tables(self.path("run"))[0].calls("fib")
        self.assertIn(calls, (4 * 67, 4 * 67 + 25), "a thread that ran before may or may not be seen")

    def test_folder_that_cannot_be_made(self):
        result = self.good(
            FIB + "open('file', 'w').close()\n"
            "with sonde.profile(folder='file/run') as p:\n"
            "    assert fib(5) == 5\n"
            "assert p.path is None and 'nothing is recorded' in p.problem, p.problem\n"
            "p.print()\n"
        )
        self.assertEqual(result.err, "")
        self.assertTrue(result.out.startswith("sonde: nothing is recorded"), result.out)

    def test_default_folder(self):
        self.good(FIB + "with sonde.profile() as p:\n    fib(5)\nassert p.path.startswith(__import__('os').getcwd())\n")
        (name,) = os.listdir(self.path("sonde-runs"))
        self.assertTrue(name.startswith("program.py-"), name)
        self.assertIn("run.json", os.listdir(self.path("sonde-runs", name)))

    @unittest.skipIf(SANITIZED, "the sanitizer keeps what was freed")
    def test_totals(self):
        self.good(
            "import sonde, time\n"
            "with sonde.profile(functions=False, folder='run') as p:\n"
            "    time.sleep(0.1)\n"
            "    data = bytearray(b'x') * (64 * 1024 * 1024)\n"
            "    del data\n"
            "assert 0.1 <= p.totals.wall < 5, p.totals.wall\n"
            "assert p.totals.cpu < p.totals.wall\n"
            "if p.totals.peak is not None:\n"
            "    assert p.totals.peak > 64 * 1024 * 1024 and p.totals.growth < 32 * 1024 * 1024, str(p.totals)\n"
            "assert 'Wall' in str(p.totals)\n"
        )

    def test_environment_is_put_back(self):
        self.good(
            "import os, sonde\n"
            "before = dict(os.environ)\n"
            "with sonde.profile(folder='run'):\n"
            "    assert os.environ['SONDE_RUN_DIR'] == os.path.abspath('run')\n"
            "    os.environ['MINE'] = '1'\n"
            "    os.environ['PYTHONPATH'] = 'changed'\n"
            "assert os.environ.pop('MINE') == '1' and os.environ['PYTHONPATH'] == 'changed'\n"
            "os.environ['PYTHONPATH'] = before['PYTHONPATH']\n"
            "assert dict(os.environ) == before\n"
            "with sonde.profile(folder='run2', children=False):\n"
            "    assert dict(os.environ) == before\n"
        )

    def test_wrong_arguments(self):
        import sonde

        with self.assertRaises(ValueError):
            sonde.profile(memory="nonsense")
        with self.assertRaises(TypeError):
            sonde.profile(nonsense=True)


@needs_memory
class Memory(Case):
    PROGRAM = (
        "import sonde\n"
        "class Thing:\n"
        "    pass\n"
        "kept = []\n"
        "def fill():\n"
        "    kept.append(bytearray(20 * 1024 * 1024))\n"
        "    kept.extend(Thing() for _ in range(1000))\n"
        "for folder in ('one', 'two'):\n"
        "    with sonde.profile(functions=False, folder=folder, %s) as p:\n"
        "        fill()\n"
        "    assert p.problem is None, p.problem\n"
    )

    def test_lines(self):
        self.good(self.PROGRAM % "memory=True, exact_memory=True")
        for folder in ("one", "two"):
            (table,) = tables(self.path(folder))
            self.assertEqual(table.memory_lines.get(("program.py", 6)), 1, folder)
            self.assertEqual({file for file, line in table.memory_lines}, {"program.py"}, folder)
            self.assertGreater(table.allocated, 20 * 1024 * 1024, folder)

    def test_together_with_lines(self):
        self.good(self.PROGRAM % "memory=True, lines=True")
        for folder in ("one", "two"):
            (table,) = tables(self.path(folder))
            self.assertEqual(table.lines.get(("program.py", 6)), 1, folder)
            self.assertEqual(table.memory_lines.get(("program.py", 6)), 1, folder)

    def test_objects(self):
        self.good(self.PROGRAM % "objects=True")
        for folder in ("one", "two"):
            (table,) = tables(self.path(folder))
            before, after = table.objects["start"], table.objects["end"]
            self.assertEqual(after["__main__.Thing"] - before.get("__main__.Thing", 0), 1000, folder)

    def test_script(self):
        self.write("program.py", "kept = []\ndef fill():\n    kept.append(bytearray(9 * 1024 * 1024))\nfill()\n")
        words = ["-m", "sonde", "--memory", "lines,objects", "-q", "-o", "run", "program.py"]
        result = python(*words, cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (0, "", ""))
        (table,) = tables(self.path("run"))
        self.assertEqual(table.memory_lines.get(("program.py", 3)), 1)
        self.assertIn("end", table.objects)
        self.assertEqual(table.functions, {})


class Answers(Case):
    @needs_reader
    def test_print_and_html(self):
        result = self.good(
            FIB + "with sonde.profile(folder='run') as p:\n"
            "    fib(10)\n"
            "p.print('functions')\n"
            "p.print('functions', limit=1, sort='calls')\n"
            "html = p._repr_html_()\n"
            "assert '<table>' in html and '<td' in html and 'fib' in html, html\n"
            "assert 'fib' in p.report('functions', format='csv')\n"
        )
        self.assertIn("fib", result.out)
        self.assertIn("177", result.out)

    @needs_reader
    def test_export_for_pstats(self):
        self.good(
            FIB + "with sonde.profile(folder='run') as p:\n"
            "    fib(10)\n"
            "assert p.export('x.prof', to='pstats') == 'x.prof'\n"
        )
        stats = pstats.Stats(self.path("x.prof")).stats
        (found,) = [value for (file, line, name), value in stats.items() if name == "fib"]
        self.assertEqual(found[:2], (1, 177))

    def test_what_the_program_cannot_do(self):
        result = self.good(
            FIB + "with sonde.profile(folder='run') as p:\n"
            "    fib(3)\n"
            "p.print(style='nonsense')\n"
            "try:\n"
            "    p.export('x', to='nonsense')\n"
            "except sonde.ReportError as error:\n"
            "    print('error:', error)\n"
        )
        self.assertIn("sonde: ", result.out)
        self.assertIn("error: ", result.out)
        self.assertNotIn("Traceback", result.err)

    def test_html_escapes(self):
        from sonde import _html

        text = json.dumps({"functions": [{"name": "<script>", "file": '/a/"b"&.py', "self": 1500, "unit": "ns"}]})
        html = _html.of_report(text, "<b>")
        self.assertNotIn("<script>", html)
        self.assertIn("&lt;script&gt;", html)
        self.assertIn("&lt;b&gt;", html)
        self.assertIn("1.50 us", html)
        self.assertIn('title="/a/&quot;b&quot;&amp;.py"', html)


class Typing(Case):
    def test_syntax_of_python_3_9(self):
        import ast

        import sonde

        folder = os.path.dirname(sonde.__file__)
        names = [name for name in os.listdir(folder) if name.endswith(".py")]
        self.assertGreater(len(names), 10)
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            tree = ast.parse(text, name, feature_version=(3, 9))
            self.assertTrue(ast.get_docstring(tree), name)
            self.assertIn("from __future__ import annotations", text, name)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))

    def test_version_is_the_programs(self):
        import re

        import sonde

        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(sonde VERSION ([0-9.]+)", file.read()).group(1)
        self.assertEqual(sonde.__version__, version)

    def test_stub_has_every_function_of_the_agent(self):
        import ast

        import sonde
        from sonde import _agent

        with open(os.path.join(os.path.dirname(sonde.__file__), "_agent.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        told = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        there = {name for name in dir(_agent) if not name.startswith("_") and callable(getattr(_agent, name))}
        self.assertEqual(there - told, set())


if __name__ == "__main__":
    main()
