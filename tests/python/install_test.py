"""`pip install .` into a virtual environment."""

import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

from support import PROGRAM, ROOT, Case, environment, main, tables

HAVE = [importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip", "setuptools", "wheel", "pip")]
COMPILER = shutil.which("g++") or shutil.which("c++")


@unittest.skipUnless(all(HAVE), "venv, pip, setuptools and wheel are not all installed for this interpreter")
@unittest.skipUnless(COMPILER, "there is no C++ compiler")
class Install(Case):
    def call(self, *words, **keywords):
        env = environment(PYTHONPATH=None, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", HOME=self.folder)
        env["CFLAGS"] = "-O0"  # it is built to be tried once
        done = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
        text = done.stdout.decode("utf-8", "replace")
        self.assertEqual(done.returncode, 0, text)
        return text

    def test_install_and_record(self):
        # A copy of what is needed: the build leaves its scratch files beside the source.
        source = self.path("source")
        for name in ("CMakeLists.txt", "setup.py", "pyproject.toml"):
            os.makedirs(source, exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), source)
        for name in ("python", "include", os.path.join("src", "capture"), os.path.join("src", "trace")):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(source, name))
        # setuptools comes from the interpreter itself: nothing is fetched.
        self.call(sys.executable, "-m", "venv", "--system-site-packages", self.path("venv"))
        python = self.path("venv", "bin", "python")
        self.call(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", source)

        where = self.call(python, "-c", "import sonde, sonde._agent; print(sonde.__file__, sonde.why_not())", cwd=self.folder)
        self.assertIn(self.path("venv"), where)
        self.assertTrue(where.strip().endswith(" None"), where)
        package = os.path.dirname(where.split()[0])
        files = os.listdir(package)
        for name in ("libsonde.so.0", "py.typed", "_agent.pyi", "__main__.py"):
            self.assertIn(name, files)

        self.write("child.py", "def g():\n    pass\ng()\n")
        self.write(
            "program.py",
            "import subprocess, sys\ndef f(n):\n    return n and f(n - 1)\nf(9)\n"
            "subprocess.run([sys.executable, 'child.py'], check=True)\n",
        )
        self.call(python, "-m", "sonde", "-q", "-o", "run", "program.py", cwd=self.folder)
        processes = tables(self.path("run"))
        self.assertEqual([process.calls("f") for process in processes if process.calls("f")], [10])
        self.assertEqual([process.calls("g") for process in processes if process.calls("g")], [1])
        report = self.call(PROGRAM, "info", "run", cwd=self.folder)
        self.assertIn("program.py", report)

        self.call(python, "-m", "pip", "uninstall", "-y", "sonde")
        self.assertFalse(os.path.exists(package), "files are left behind")


if __name__ == "__main__":
    main()
