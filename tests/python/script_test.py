"""`python3 -m sonde script.py`: the program must not notice."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from support import Case, environment, main, needs_reader, python, tables

PROGRAM = '''\
import os, sys
def facts():
    names = sorted(globals())
    return (sys.argv, sys.path, __name__, __file__, str(__spec__), __package__, names, type(__loader__).__name__,
            sys.modules["__main__"].__dict__ is globals(), __builtins__.__class__.__name__, __doc__)
print(facts())
def fail():
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("wrong") from error
what = sys.argv[1] if len(sys.argv) > 1 else ""
if what == "raise":
    fail()
elif what == "exit":
    sys.exit(7)
elif what == "text":
    sys.exit("a message")
elif what == "none":
    sys.exit()
elif what == "large":
    sys.exit(300)
elif what == "interrupt":
    import signal, time
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
elif what == "terminate":
    import signal
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)
elif what == "hook":
    sys.excepthook = lambda kind, value, trace: print("hook", kind, value, trace.tb_frame.f_code.co_name, trace.tb_lineno)
    fail()
elif what == "thread":
    import threading
    threading.Thread(target=fail, name="worker").start()
elif what == "atexit":
    import atexit
    atexit.register(print, "the end")
elif what == "quick":
    sys.stdout.flush()
    os._exit(3)
elif what == "streams":
    print(repr(sys.stdin.read()))
    print("to error", file=sys.stderr)
    sys.stderr.close()
elif what == "pickle":
    import pickle
    class Thing:
        pass
    print(pickle.loads(pickle.dumps(Thing())).__class__.__module__)
elif what == "warn":
    import warnings
    warnings.warn("careful", stacklevel=1)
elif what == "profile":
    sys.setprofile(lambda *rest: None)
    sys.setprofile(None)
'''

WORDS = ["", "raise", "exit", "text", "none", "large", "interrupt", "terminate", "hook", "thread", "atexit", "quick"]
WORDS += ["streams", "pickle", "warn", "profile"]


class Same(Case):
    """Output, errors and exit code are those of the program by itself."""

    def compare(self, *words, flags=(), **keywords):
        plain = python(*flags, *words, cwd=self.folder, **keywords)
        recorded = python(*flags, "-m", "sonde", "-q", "-o", "run", *words, cwd=self.folder, **keywords)

        def clean(text):
            return re.sub(r"0x[0-9a-f]+", "0x", text)

        self.assertEqual(clean(recorded.out), clean(plain.out))
        self.assertEqual(clean(recorded.err), clean(plain.err))
        self.assertEqual(recorded.status, plain.status)
        return recorded

    def test_script(self):
        self.write("program.py", PROGRAM)
        for word in WORDS:
            with self.subTest(word):
                self.compare("program.py", word, "-m", "--lines", stdin="from here")

    def test_interrupt_ends_by_the_signal(self):
        self.write("program.py", PROGRAM)
        self.assertEqual(self.compare("program.py", "interrupt").status, -signal.SIGINT)

    def test_module(self):
        self.write("package/__init__.py", "")
        self.write("package/__main__.py", PROGRAM)
        self.write("package/part.py", PROGRAM)
        for name in ("package", "package.part"):
            for word in ("", "raise", "exit", "interrupt"):
                with self.subTest(name + " " + word):
                    self.compare("-m", name, word, "-o", "x")
        self.compare("-mpackage.part", "text")

    def test_folder_and_archive(self):
        import zipfile

        self.write("box/__main__.py", PROGRAM)
        with zipfile.ZipFile(self.path("box.zip"), "w") as archive:
            archive.write(self.path("box", "__main__.py"), "__main__.py")
        for name in ("box", "box.zip"):
            for word in ("", "raise"):
                with self.subTest(name + word):
                    self.compare(name, word)

    def test_compiled_file(self):
        import py_compile

        py_compile.compile(self.write("program.py", PROGRAM), self.path("program.pyc"))
        self.compare("program.pyc", "exit")

    def test_text(self):
        self.compare("-c", "import sys; print(sys.argv, sys.path[0], sorted(globals())); 1 / 0", "a", "-b")

    def test_link_to_a_script(self):
        self.write("program.py", PROGRAM)
        os.mkdir(self.path("links"))
        os.symlink("../program.py", self.path("links", "link.py"))
        self.compare("links/link.py")

    def test_nothing_to_run(self):
        self.write("bad.py", "def f(:\n    pass\n")
        self.compare("bad.py")
        self.compare("missing.py")
        self.compare("-m", "no.such.module")

    def test_flags_of_the_interpreter(self):
        self.write("program.py", PROGRAM)
        self.compare("program.py", "warn", flags=["-W", "error", "-O"])
        if sys.version_info >= (3, 11):
            # Without the folder of the script on the path, the package is found by PYTHONPATH all the same.
            self.compare("program.py", flags=["-P"])


class Recorded(Case):
    """What is recorded, and what is said afterwards."""

    def test_counts_of_functions(self):
        self.write("program.py", "def f(n):\n    return n and f(n - 1)\nfor i in range(3):\n    f(4)\nlen([])\n")
        result = python("-m", "sonde", "-q", "-o", "run", "program.py", cwd=self.folder)
        self.assertEqual((result.status, result.out, result.err), (0, "", ""))
        (table,) = tables(self.path("run"))
        self.assertEqual(table.functions["f"][:2], [15, 12])
        self.assertEqual(table.calls("<built-in method builtins.len>"), 1)
        self.assertEqual(table.callers["<module>", "f"], 3)
        ours = [file for file in table.files if os.sep + "sonde" + os.sep in file]
        self.assertEqual(ours, [], "our own functions are in the recording")

    def test_threads_and_exit_functions_behind_the_end(self):
        self.write(
            "program.py",
            "import atexit, threading, time\n"
            "def late():\n    time.sleep(0.05)\n    work()\n"
            "def work():\n    pass\n"
            "def last():\n    work()\n"
            "atexit.register(last)\nthreading.Thread(target=late).start()\n",
        )
        python("-m", "sonde", "-q", "-o", "run", "program.py", cwd=self.folder)
        (table,) = tables(self.path("run"))
        self.assertEqual(table.calls("late"), 1)
        self.assertEqual(table.calls("last"), 1)
        self.assertEqual(table.calls("work"), 2)

    def test_lines(self):
        self.write("helper.py", "def double(x):\n    y = x * 2\n    return y\n")
        self.write("program.py", "import helper, json\nfor i in range(5):\n    helper.double(i)\njson.dumps([1])\n")
        python("-m", "sonde", "--lines", "-q", "-o", "run", "program.py", cwd=self.folder)
        (table,) = tables(self.path("run"))
        self.assertEqual(table.lines["helper.py", 2], 5)
        self.assertEqual(table.lines["helper.py", 3], 5)
        self.assertEqual(table.lines["program.py", 2], 6)
        self.assertEqual({file for file, line in table.lines}, {"helper.py", "program.py"})
        self.assertEqual(table.functions, {})

    def test_lines_of_a_module_that_is_asked_for(self):
        self.write("program.py", "import json\njson.dumps([1], indent=1)\n")
        python("-m", "sonde", "--lines", "--include", "json", "-q", "-o", "run", "program.py", cwd=self.folder)
        (table,) = tables(self.path("run"))
        self.assertIn("encoder.py", {file for file, line in table.lines})
        self.assertNotIn("program.py", {file for file, line in table.lines})

    def test_failed_program_is_reported(self):
        self.write("program.py", "def f():\n    raise SystemExit(4)\nf()\n")
        result = python("-m", "sonde", "-o", "run", "program.py", cwd=self.folder)
        self.assertEqual(result.status, 4)
        self.assertIn("sonde: the run lies in run", result.err)
        with open(self.path("run", "run.json"), encoding="utf-8") as file:
            facts = json.load(file)
        self.assertEqual(facts["exit_code"], 4)
        self.assertEqual(facts["command"][1:], ["program.py"])
        self.assertGreaterEqual(facts["end_unix_ns"], facts["start_unix_ns"])

    @needs_reader
    def test_default_folder_and_view(self):
        self.write("program.py", "def spend():\n    return sum(range(1000))\nspend()\n")
        result = python("-m", "sonde", "-v", "functions", "program.py", cwd=self.folder)
        self.assertEqual((result.status, result.out), (0, ""))
        self.assertIn("spend", result.err)
        (name,) = os.listdir(self.path("sonde-runs"))
        self.assertTrue(name.startswith("program.py-"), name)

    def test_without_the_program(self):
        self.write("program.py", "print('done')\n")
        result = python("-m", "sonde", "-o", "run", "program.py", cwd=self.folder, SONDE_PROGRAM="/no/such/program")
        self.assertEqual((result.status, result.out), (0, "done\n"))
        self.assertEqual(len(result.err.splitlines()), 2, result.err)
        self.assertIn("'sonde' was not found", result.err)

    def test_forked_child_does_not_report(self):
        self.write("program.py", "import os, sys\nif os.fork() == 0:\n    sys.exit(0)\nos.wait()\n")
        result = python("-m", "sonde", "-o", "run", "program.py", cwd=self.folder)
        self.assertEqual(result.err.count("the run lies in"), 1, result.err)

    def test_wrong_options(self):
        for words in ([], ["--memory", "what", "x.py"], ["-m"], ["--nonsense", "x.py"]):
            result = python("-m", "sonde", *words, cwd=self.folder)
            self.assertEqual(result.status, 2, result)
            self.assertIn("usage: python3 -m sonde", result.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_killed_program_keeps_what_it_did(self):
        self.write(
            "program.py",
            "import sys, time\ndef f():\n    pass\nfor i in range(100):\n    f()\nprint('ready', flush=True)\ntime.sleep(60)\n",
        )
        words = [sys.executable, "-m", "sonde", "-q", "-o", "run", "program.py"]
        child = subprocess.Popen(words, cwd=self.folder, env=environment(), stdout=subprocess.PIPE)
        try:
            self.assertEqual(child.stdout.readline(), b"ready\n")
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        (table,) = tables(self.path("run"))
        self.assertEqual(table.calls("f"), 100)

    def test_interrupt_from_the_terminal(self):
        self.write("program.py", "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
        words = [sys.executable, "-m", "sonde", "-o", "run", "program.py"]
        child = subprocess.Popen(
            words, cwd=self.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.assertEqual(child.stdout.readline(), b"ready\n")
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, -signal.SIGINT)
        self.assertIn(b"KeyboardInterrupt", err)
        self.assertIn(b"the run lies in run", err)
        with open(self.path("run", "run.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["signal"], 2)


class FromOutside(Case):
    """--sample and --memory curve: `sonde run` takes over."""

    def test_program_and_report(self):
        self.write("program.py", "import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(3)\n")
        for words in (["-q"], [], ["-v", "functions"]):
            result = python(
                "-m", "sonde", "--sample", "-o", "run%d" % len(words), *words, "program.py", "-q", "a b",
                cwd=self.folder, stdin="from here",
            )
            self.assertEqual((result.status, result.out), (3, "['-q', 'a b'] from here\n"), result)
            self.assertEqual("the run lies in" in result.err, words != ["-q"], result)
            with open(self.path("run%d" % len(words), "run.json"), encoding="utf-8") as file:
                facts = json.load(file)
            self.assertEqual(facts["exit_code"], 3)
            self.assertEqual(facts["command"][0], sys.executable)
            self.assertEqual(facts["command"][-3:], ["program.py", "-q", "a b"])
            shutil.rmtree(self.path("run%d" % len(words)))

    def test_without_the_program(self):
        self.write("program.py", "print('never')\n")
        result = python("-m", "sonde", "--sample", "program.py", cwd=self.folder, SONDE_PROGRAM="/no/such/program")
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertEqual(len(result.err.splitlines()), 1, result.err)


if __name__ == "__main__":
    main()
