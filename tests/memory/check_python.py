"""What Python programs allocate, keep and hold, recorded in real interpreters, against what is known of them.

    check_python.py LIBRARY PACKAGE INTERPRETER...
"""

import subprocess
import sys
import unittest

from python_line_memory import LineMemory
from python_lines import Lines
from python_objects import Objects
from python_run import INTERPRETERS


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
