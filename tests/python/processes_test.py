"""Children: fork, multiprocessing, subprocess."""

import os
import sys
import unittest

from support import PACKAGE, Case, main, python, tables

INJECT = os.path.exists(os.path.join(PACKAGE, "inject", "sitecustomize.py"))

POOL = """
import multiprocessing, sys
def work(n):
    return sum(step(i) for i in range(n))
def step(i):
    return i
def all(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        results = pool.map(work, [10] * 4, chunksize=1)
        pool.close()
        pool.join()
    return results
if __name__ == "__main__":
    assert all(sys.argv[1]) == [45] * 4
    print("done")
"""


class Processes(Case):
    def calls(self, folder, name):
        found = tables(self.path(folder))
        return [table.calls(name) for table in found if table.calls(name)]

    def test_fork(self):
        self.good(
            "import os, sonde\n"
            "def step(): pass\n"
            "with sonde.profile(folder='run'):\n"
            "    step()\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        step(); step()\n"
            "        os._exit(0)\n"
            "    assert os.waitpid(child, 0)[1] == 0\n"
            "    step()\n"
        )
        self.assertEqual(sorted(self.calls("run", "step")), [2, 2])

    def pool(self, method):
        self.write("program.py", POOL)
        result = python("-m", "sonde", "-q", "-o", "run", "program.py", method, cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (0, "done\n", ""))
        self.assertEqual(sum(self.calls("run", "step")), 40)
        self.assertEqual(sum(self.calls("run", "work")), 4)

    def test_pool_by_fork(self):
        self.pool("fork")

    @unittest.skipUnless(INJECT, "inject/sitecustomize.py is not there")
    def test_pool_by_spawn(self):
        self.pool("spawn")

    @unittest.skipUnless(INJECT, "inject/sitecustomize.py is not there")
    def test_pool_by_forkserver(self):
        self.pool("forkserver")

    @unittest.skipUnless(INJECT, "inject/sitecustomize.py is not there")
    def test_subprocess(self):
        self.write("child.py", "import sys\ndef step(): pass\nfor i in range(5): step()\nprint(sys.path, sys.argv)\n")
        plain = python("child.py", "a", cwd=self.folder)
        self.write(
            "program.py",
            "import subprocess, sys\n"
            "done = subprocess.run([sys.executable, 'child.py', 'a'], stdout=subprocess.PIPE, check=True)\n"
            "sys.stdout.write(done.stdout.decode())\n",
        )
        result = python("-m", "sonde", "-q", "-o", "run", "program.py", cwd=self.folder)
        self.assertEqual(result.out, plain.out)
        self.assertEqual(self.calls("run", "step"), [5])

    @unittest.skipUnless(INJECT, "inject/sitecustomize.py is not there")
    def test_inside_of_what_sonde_run_records(self):
        # The environment of `sonde run --python function`: the recording is not ours to end.
        self.write(
            "program.py",
            "import sonde\n"
            "def step(): pass\n"
            "step()\n"
            "with sonde.profile(lines=True, folder='other') as p:\n"
            "    step()\n"
            "step()\n"
            "assert p.path == __import__('os').environ['SONDE_RUN_DIR'], p.path\n",
        )
        os.mkdir(self.path("run"))
        paths = os.pathsep.join([os.path.join(PACKAGE, "inject"), PACKAGE])
        words = dict(SONDE_RUN_DIR=self.path("run"), SONDE_PYTHON="function", PYTHONPATH=paths)
        result = python("program.py", cwd=self.folder, **words)
        self.assertEqual((result.status, result.err), (0, ""), result)
        (table,) = tables(self.path("run"))
        self.assertEqual(table.calls("step"), 3)
        self.assertEqual(table.lines["program.py", 5], 1)
        self.assertFalse(os.path.exists(self.path("other")))

    @unittest.skipUnless(INJECT, "inject/sitecustomize.py is not there")
    def test_children_of_a_recording_in_code(self):
        self.write("child.py", "def step(): pass\nfor i in range(5): step()\n")
        self.good(
            "import subprocess, sys, sonde\n"
            "def child():\n"
            "    subprocess.run([sys.executable, 'child.py'], check=True)\n"
            "with sonde.profile(folder='run'):\n"
            "    child()\n"
            "with sonde.profile(folder='alone', children=False):\n"
            "    child()\n"
            "child()\n"
        )
        self.assertEqual(self.calls("run", "step"), [5])
        self.assertEqual(self.calls("alone", "step"), [])


if __name__ == "__main__":
    main()
