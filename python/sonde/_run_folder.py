"""The folder of a run: run.json and one recording for each process, as `sonde run` makes it."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import time
from typing import Any, Dict, List, Optional

from . import __version__

RUNS = "sonde-runs"


def make_folder(path: Optional[str], name: str) -> str:
    """Makes the folder, and returns its full path. Without a path: sonde-runs/NAME-TIME. Raises OSError."""
    if path is not None:
        full = os.path.abspath(os.fspath(path))
        os.makedirs(full, exist_ok=True)
        return full
    plain = re.sub(r"[^A-Za-z0-9._+-]", "_", os.path.basename(name)).lstrip(".")[:64] or "python"
    base = os.path.abspath(os.path.join(RUNS, plain + time.strftime("-%Y%m%d-%H%M%S")))
    os.makedirs(os.path.dirname(base), exist_ok=True)
    folder = base
    number = 1
    while True:
        # Two runs may begin in the same second; the one that makes the folder has it.
        try:
            os.mkdir(folder)
            return folder
        except FileExistsError:
            number += 1
            folder = "%s-%d" % (base, number)


def _cpu() -> Optional[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def _machine() -> Dict[str, Any]:
    names = os.uname()
    machine: Dict[str, Any] = {"host": names.nodename, "system": "%s %s" % (names.sysname, names.release)}
    machine["architecture"] = platform.machine()
    cpu = _cpu()
    if cpu:
        machine["cpu"] = cpu
    machine["cores"] = os.cpu_count() or 1
    try:
        machine["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        pass
    return machine


def _utc(nanoseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(nanoseconds // 1000000000))


def _plain(text: str) -> str:
    """Without surrogates: the file is UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


class RunFile:
    """run.json of a folder: written at the start, and again with the end."""

    def __init__(self, folder: str, command: Optional[List[str]] = None) -> None:
        self.path = os.path.join(folder, "run.json")
        self._facts: Dict[str, Any] = {
            "sonde": __version__,
            "command": [_plain(word) for word in (command or [sys.executable or "python3"] + sys.argv)],
        }
        try:
            self._facts["folder"] = _plain(os.getcwd())
        except OSError:
            pass
        start = time.time_ns()
        self._facts["start"] = _utc(start)
        self._facts["start_unix_ns"] = start
        self._machine = _machine()

    def write(self, exit_code: Optional[int] = None, signal: Optional[int] = None, ended: bool = False) -> None:
        """Raises OSError. The file is whole, or as it was before."""
        facts = dict(self._facts)
        if ended:
            end = time.time_ns()
            facts["end"] = _utc(end)
            facts["end_unix_ns"] = end
            if exit_code is not None:
                facts["exit_code"] = exit_code
            if signal is not None:
                facts["signal"] = signal
        facts["machine"] = self._machine
        scratch = self.path + ".new"
        with open(scratch, "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(scratch, self.path)
