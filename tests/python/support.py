"""What the tests of the Python package share: child processes, and readers of what they recorded."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# The folder that holds the package, and the program: given by ctest.
PACKAGE = os.environ.get("SONDE_TEST_PACKAGE", os.path.join(ROOT, "build", "lib", "sonde", "python"))
PROGRAM = os.environ.get("SONDE_TEST_PROGRAM", os.path.join(ROOT, "build", "bin", "sonde"))
sys.path.insert(0, PACKAGE)

# Parts of Sonde that these tests look at as well.
needs_reader = unittest.skipUnless(
    os.path.isdir(os.path.join(ROOT, "src", "import", "sonde_run", "tables")),
    "this tree has no reader of .tables files",
)
# A sanitizer stands in front of malloc itself, and takes memory of its own.
SANITIZED = "SONDE_TEST_SANITIZED" in os.environ
needs_memory = unittest.skipUnless(
    os.path.isdir(os.path.join(ROOT, "src", "capture", "memory")) and not SANITIZED, "this tree does not count memory"
)


def environment(**more):
    """The environment of a child: nothing of Sonde's but the package and the program."""
    out = {key: value for key, value in os.environ.items() if not key.startswith("SONDE_")}
    out.update(PYTHONPATH=PACKAGE, SONDE_PROGRAM=PROGRAM, PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="0")
    out.pop("PYTHONHOME", None)
    for key, value in more.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = value
    return out


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")

    def __repr__(self):
        return "status %s\n%s\n%s" % (self.status, self.out, self.err)


def run(words, cwd=None, stdin="", timeout=100, **more):
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment(**more),
        input=stdin.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=timeout,
    )
    return Result(done)


def python(*words, **keywords):
    """Runs this very interpreter as a child."""
    return run([sys.executable] + list(words), **keywords)


class Case(unittest.TestCase):
    """A test with a scratch folder of its own."""

    maxDiff = None

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="sonde-python-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def good(self, text, *words, **keywords):
        """Runs a program that must end well; gives its result."""
        result = python(self.write("program.py", text), *words, cwd=self.folder, **keywords)
        self.assertEqual(result.status, 0, result)
        return result


# ---- The sums beside a recording -----------------------------------------------------------------

sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import tables as tables_reader  # noqa: E402

tables_reader.ROWS.setdefault(10, ("Site", "<IIQQQQQ", "frame memory allocations bytes frees freed peak"))
tables_reader.ROWS.setdefault(11, ("MemoryLine", "<IiQqqq", "code line hits bytes increment peak"))
tables_reader.ROWS.setdefault(12, ("Snapshot", "<IIQ", "id label time"))
tables_reader.ROWS.setdefault(13, ("ObjectType", "<IIQQ", "snapshot type count bytes"))


class Process:
    """Functions by name and lines by the name of their file, of one recorded process."""

    def __init__(self, found):
        self.files = {found.texts[row.file] for row in found.rows["Code"]}
        self.functions = {}  # name -> [calls, recursive calls, self ticks, total ticks]
        for (file, line, name), sums in found.functions().items():
            known = self.functions.setdefault(name, [0, 0, 0, 0])
            for i, value in enumerate(sums):
                known[i] += value
        self.callers = {}  # (caller, callee) -> calls
        for (caller, callee), sums in found.calls().items():
            key = (caller[2] if caller else "", callee[2])
            self.callers[key] = self.callers.get(key, 0) + sums[0]
        self.lines = {(os.path.basename(file), line): sums[0] for (file, line), sums in found.lines().items()}
        self.memory_lines = {}
        for row in found.rows["MemoryLine"]:
            key = (os.path.basename(found.texts[found.codes[row.code].file]), row.line)
            self.memory_lines[key] = self.memory_lines.get(key, 0) + row.hits

        labels = {row.id: found.texts[row.label] for row in found.rows["Snapshot"]}
        self.objects = {label: {} for label in labels.values()}  # label -> type -> count
        for row in found.rows["ObjectType"]:
            self.objects[labels[row.snapshot]][found.texts[row.type]] = row.count
        self.allocated = 0  # bytes, by all stacks
        counted = os.path.splitext(found.path)[0] + ".memory"
        if os.path.exists(counted):
            self.allocated = sum(row.bytes for row in tables_reader.Tables(counted).rows["Site"])

    def calls(self, name):
        return self.functions.get(name, [0])[0]


def tables(folder):
    """The sums of every process of a run."""
    return [Process(found) for found in tables_reader.read_run(folder).values()]


# ---- The recorder's file, by way of the program --------------------------------------------------


class Events:
    """Slices, counters and markers of a run."""

    def __init__(self, run_folder):
        target = os.path.join(run_folder, "events.json")
        result = run([PROGRAM, "export", run_folder, "--to", "chrome", "-o", target])
        assert result.status == 0, result
        with open(target, encoding="utf-8") as file:
            self.all = json.load(file)["traceEvents"]
        os.unlink(target)

    def slices(self, name=None):
        """Slices of threads, in the order of their times."""
        found = [event for event in self.all if event["ph"] == "X" and name in (None, event["name"])]
        return sorted(found, key=lambda event: event["ts"])

    def apart(self, name=None):
        """Slices of tasks: (row, name, start, end, arguments)."""
        open_ones, out = {}, []
        for event in self.all:
            if event["ph"] == "b":
                open_ones.setdefault((event["id"], event["name"]), []).append(event)
            elif event["ph"] == "e":
                begin = open_ones[event["id"], event["name"]].pop()
                if name in (None, event["name"]):
                    out.append((event["id"], event["name"], begin["ts"], event["ts"], begin.get("args", {})))
        return sorted(out, key=lambda slice: slice[2])

    def counters(self, name):
        return [list(event["args"].values())[0] for event in self.all if event["ph"] == "C" and event["name"] == name]

    def markers(self):
        return [(event["name"], event.get("s")) for event in self.all if event["ph"] in "iI"]


def main():
    """Runs the tests of the file. 77, which ctest shows as skipped, where every one of them was skipped."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.skipped and len(result.skipped) >= result.testsRun else 0)
