"""Makes the Python processes that this one starts record themselves, into the same run."""

from __future__ import annotations

import os
from typing import Dict, List, Optional

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def inject_folder() -> Optional[str]:
    """The folder with the sitecustomize.py that starts the agent; None where it is not installed."""
    # As it is built and installed, and as pip installs it.
    for name in ("inject", "sonde_inject"):
        folder = os.path.join(os.path.dirname(_PACKAGE), name)
        if os.path.exists(os.path.join(folder, "sitecustomize.py")):
            return folder
    return None


class ChildEnvironment:
    """The environment variables that children inherit, between enter() and leave()."""

    def __init__(self, folder: str, words: List[str], include: List[str], exclude: List[str]) -> None:
        self._wanted: Dict[str, str] = {"SONDE_RUN_DIR": folder, "SONDE_PYTHON": ",".join(words)}
        if include:
            self._wanted["SONDE_PYTHON_INCLUDE"] = os.pathsep.join(include)
        if exclude:
            self._wanted["SONDE_PYTHON_EXCLUDE"] = os.pathsep.join(exclude)
        inject = inject_folder()
        if inject is not None:
            old = os.environ.get("PYTHONPATH")
            self._wanted["PYTHONPATH"] = inject + os.pathsep + old if old else inject
        self._before: Dict[str, Optional[str]] = {}

    def enter(self) -> None:
        for key, value in self._wanted.items():
            self._before[key] = os.environ.get(key)
            os.environ[key] = value

    def leave(self) -> None:
        """Puts back what was there, except where the program changed it meanwhile."""
        for key, value in self._before.items():
            if os.environ.get(key) != self._wanted[key]:
                continue
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
        self._before = {}
