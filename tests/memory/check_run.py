"""`sonde run --memory …` with real programs.

    check_run.py SONDE CHILD INTERPRETER...
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from read_tables import read

SONDE, CHILD = sys.argv[1:3]
INTERPRETERS = sys.argv[3:]

SCRIPT = """\
import os, sys
class Kept: pass
kept = [Kept() for _ in range(5000)]
block = bytearray(30 << 20)
del block
leak = bytearray(5 << 20)
print("preload", os.environ.get("LD_PRELOAD", "").split(":")[1:], "path", [p for p in sys.path if "inject" in p])
if len(sys.argv) > 1:
    import subprocess
    subprocess.run([sys.executable, __file__], check=True)
    pid = os.fork()
    if pid == 0:
        child = bytearray(9 << 20)
        os._exit(0)
    os.waitpid(pid, 0)
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sonde-memory-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.script = os.path.join(self.folder, "script.py")
        with open(self.script, "w") as file:
            file.write(SCRIPT)

    def sonde(self, *arguments, code=0, env=None):
        # Not sampled: the files are those of the agent alone.
        command = [SONDE, "run", "--force", "-o", self.folder + "/run", "--python", "none", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def tables(self, ending):
        return [read(path) for path in sorted(glob.glob(self.folder + "/run/*" + ending))]

    def live_at(self, table, line):
        return sum(s["allocated_bytes"] - s["freed_bytes"] for s in table["sites"]
                   if s["stack"] and s["stack"][0]["file"] == self.script and s["stack"][0]["line"] == line)

    def test_lines_of_python(self):
        for interpreter in INTERPRETERS:
            with self.subTest(interpreter):
                env = dict(os.environ, LD_PRELOAD="libm.so.6")
                done = self.sonde("-q", "--memory", "lines", "--", interpreter, self.script, "more", env=env)
                self.assertEqual(done.stdout, "preload ['libm.so.6'] path []\n" * 2)
                self.assertEqual(done.stderr, "")
                tables = self.tables(".memory")
                self.assertEqual(len(tables), 3)
                self.assertEqual(sorted(self.live_at(table, 6) >> 20 for table in tables), [0, 5, 5])
                self.assertEqual(sorted(self.live_at(table, 13) >> 20 for table in tables), [0, 0, 9])
                self.assertEqual([self.live_at(table, 4) for table in tables], [0] * 3)
                peaks = sorted(int(table["properties"].get("memory.peak_bytes", 0)) >> 20 for table in tables)
                self.assertGreaterEqual(peaks[1], 30)

    def test_objects_of_python(self):
        for interpreter in INTERPRETERS:
            with self.subTest(interpreter):
                self.sonde("-q", "--memory", "objects", "--", interpreter, self.script)
                (table,) = self.tables(".tables")
                shots = {shot["label"]: shot["types"] for shot in table["snapshots"]}
                self.assertEqual(shots["end"]["__main__.Kept"][0], 5000)
                self.assertNotIn("__main__.Kept", shots["start"])
                self.assertFalse(self.tables(".memory"))

    def test_other_programs(self):
        self.sonde("-q", "--memory", "lines", "--memory-gap", "64K", "--", CHILD)
        tables = self.tables(".memory")
        self.assertEqual(len(tables), 3)
        self.assertEqual({table["properties"]["memory.gap"] for table in tables}, {"65536"})
        self.sonde("-q", "--memory", "lines,curve", "--memory-exact", "--", CHILD)
        self.assertEqual(len(self.tables(".memory")), 3)
        self.assertEqual({table["properties"]["memory.gap"] for table in self.tables(".memory")}, {"0"})
        self.sonde("-q", "--memory", "curve", "--", CHILD)
        self.assertFalse(self.tables(".memory"))

    def test_interpreters_that_keep_sonde_out(self):
        for interpreter in INTERPRETERS[:1]:
            self.sonde("-q", "--memory", "lines", "--", interpreter, "-I", self.script)
            (table,) = self.tables(".memory")
            self.assertEqual({len(site["stack"]) for site in table["sites"]}, {0})
            self.assertGreater(int(table["properties"]["memory.peak_bytes"]), 30 << 20)

    def test_wrong_words(self):
        for words in (["--memory", "all"], ["--memory-exact"], ["--memory-gap", "1M"],
                      ["--memory", "lines", "--memory-gap", "0"], ["--memory", "lines", "--memory-gap", "2T"],
                      ["--memory", "lines", "--memory-gap", "1M", "--memory-exact"]):
            done = self.sonde(*words, "--", "true", code=2)
            self.assertIn("memory", done.stderr)
            self.assertFalse(os.path.exists(self.folder + "/run"))


if __name__ == "__main__":
    if not INTERPRETERS:
        print("no interpreter that an agent was built for")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
