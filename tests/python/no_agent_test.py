"""Without the native agent everything does nothing, silently, and why_not() says so."""

from support import Case, main, python

# What an interpreter looks like that has no agent.
NONE = "import sys\nsys.modules['sonde._agent'] = None\n"


class NoAgent(Case):
    def test_whole_program(self):
        result = self.good(
            NONE + '''
import asyncio, io
import sonde
assert "nothing is recorded" in sonde.why_not() and "_agent" in sonde.why_not(), sonde.why_not()
assert sonde.why_not() == sonde.why_not()

@sonde.time
def timed():
    return 1

@sonde.lines
def lined():
    return 2

@sonde.memory
def measured():
    return 3

@sonde.scope("decorated")
async def coroutine():
    async with sonde.scope("inside"):
        return 4

with sonde.profile(lines=True, timeline=True, memory=True, objects=True) as p:
    sonde.step()
    with sonde.scope("x", kind="forward", a=1) as s:
        s.add(b=2)
    sonde.counter("c").set(1)
    sonde.marker("m")
    sonde.last_step()
    sonde.flush()
    sonde.name_thread("main")
    assert (timed(), lined(), measured(), asyncio.run(coroutine())) == (1, 2, 3, 4)
assert timed.timing.calls == 1
assert p.path is None and not p.running
assert p.totals.wall > 0
out = io.StringIO()
p.print("functions", file=out)
assert out.getvalue() == "sonde: " + sonde.why_not() + "\\n", out.getvalue()
try:
    p.export("x.prof", to="pstats")
    raise SystemExit("export gave no error")
except sonde.ReportError as error:
    assert "nothing is recorded" in str(error)
q = sonde.start()
assert sonde.stop() is q and sonde.stop() is None
speed = sonde.benchmark()
speed.begin()
speed.step()
'''
        )
        self.assertEqual((result.out, result.err), ("", ""))
        import os

        self.assertEqual(os.listdir(self.folder), ["program.py"])

    def test_script(self):
        self.write("program.py", "import sys\nprint('out')\nsys.exit(5)\n")
        self.write("start.py", NONE + "from sonde.__main__ import main\nmain(['-o', 'run', 'program.py'])\n")
        result = python("start.py", cwd=self.folder)
        self.assertEqual((result.status, result.out), (5, "out\n"))
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertIn("nothing is recorded: ", result.err)


    def test_what_is_missing(self):
        # The files alone, without a module for any interpreter.
        import os
        import shutil

        import sonde

        target = self.path("alone", "sonde")
        shutil.copytree(os.path.dirname(sonde.__file__), target, ignore=shutil.ignore_patterns("*.so", "*.so.*", "__pycache__"))
        result = self.good("import sonde\nprint(sonde.why_not())\n", PYTHONPATH=os.path.dirname(target))
        self.assertIn("there is no agent for", result.out)
        self.assertIn("pip install .", result.out)


class Agent(Case):
    def test_nothing_to_explain(self):
        self.good("import sonde\nassert sonde.why_not() is None, sonde.why_not()\n")

    def test_import_loads_little(self):
        # `sonde run` imports the package into every program of Python.
        result = self.good("import sys\nbefore = set(sys.modules)\nimport sonde\nprint(sorted(set(sys.modules) - before))\n")
        for name in ("inspect", "json", "subprocess", "asyncio", "threading"):
            self.assertNotIn("'%s'" % name, result.out)


if __name__ == "__main__":
    main()
