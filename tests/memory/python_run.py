"""A script that is run in a real interpreter, and what was recorded of it."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

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
