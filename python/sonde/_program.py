"""The program `sonde`, which reads what was recorded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Dict, List, Optional

MISSING = (
    "the program 'sonde' was not found: build it (make), and put it on the PATH or its path into SONDE_PROGRAM"
)


class ReportError(RuntimeError):
    """What the program `sonde` said when it could not do what it was asked for."""


def find_program() -> Optional[str]:
    """The path of the program: from SONDE_PROGRAM, beside this package, or on the PATH."""
    named = os.environ.get("SONDE_PROGRAM")
    if named:
        return shutil.which(named)
    package = os.path.dirname(os.path.abspath(__file__))
    # <prefix>/lib/sonde/python/sonde, as it is built and installed.
    prefix = os.path.normpath(os.path.join(package, "..", "..", "..", ".."))
    for place in (os.path.join(prefix, "bin", "sonde"), os.path.join(os.path.dirname(sys.executable), "sonde")):
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    return shutil.which("sonde")


def clean_environment() -> Dict[str, str]:
    """The environment of this process without what makes children record."""
    return {key: value for key, value in os.environ.items() if not key.startswith("SONDE_")}


def run_program(arguments: List[str]) -> str:
    """What `sonde ARGUMENTS` prints. Raises ReportError with a sentence for the user."""
    program = find_program()
    if program is None:
        raise ReportError(MISSING)
    try:
        done = subprocess.run(
            [program] + arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
    except OSError as error:
        raise ReportError("%s cannot be run: %s" % (program, error.strerror)) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        if said.startswith("sonde: "):
            said = said[len("sonde: ") :]
        raise ReportError(said or "%s ended with %d" % (program, done.returncode))
    return done.stdout.decode("utf-8", "replace")


def report_arguments(
    path: str,
    view: Optional[str] = None,
    style: Optional[str] = None,
    sort: Optional[str] = None,
    limit: Optional[int] = None,
    format: Optional[str] = None,
) -> List[str]:
    """The command line of `sonde report` for these wishes."""
    out = ["report", path, "--color", "never"]
    for option, value in (("--view", view), ("--style", style), ("--sort", sort), ("--limit", limit), ("--format", format)):
        if value is not None:
            out += [option, str(value)]
    return out
