"""The native agent of this interpreter, or the reason why there is none."""

from __future__ import annotations

import os
import sys
from typing import Any, Optional

_reason: Optional[str] = None


def _explain(error: ImportError) -> str:
    """One sentence for the user: what is missing, and what to do."""
    import sysconfig

    version = "%d.%d" % sys.version_info[:2]
    what = "%s %s" % (sys.implementation.name, version)
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_agent" + suffix)
    if os.path.exists(built):
        return "nothing is recorded: the agent %s cannot be loaded (%s)" % (built, error)
    if sys.implementation.name != "cpython" or sys.version_info < (3, 9):
        return "nothing is recorded: %s has no agent; CPython 3.9 or newer is needed" % what
    return (
        "nothing is recorded: there is no agent for %s (%s); install the headers of this interpreter "
        "and build Sonde again, or run '%s -m pip install .' in Sonde's source"
        % (what, sys.executable, sys.executable)
    )


class NoAgent:
    """Stands for the agent where there is none: every call does nothing."""

    def start(self, folder: Optional[str] = None) -> str:
        return ""

    def running(self) -> bool:
        return False

    def recording(self) -> bool:
        return False

    def begin_span(self, name: str, kind: int, domain: Optional[str], apart: bool) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _nothing


def _nothing(*arguments: Any, **keywords: Any) -> None:
    return None


agent: Any
try:
    from . import _agent as agent
except ImportError as error:
    agent = NoAgent()
    _reason = _explain(error)


def why_not() -> Optional[str]:
    """Why nothing can be recorded in this interpreter, as a sentence; None where all is well.

    Without the native agent the whole package does nothing, silently: this is the one place that says so.
    """
    return _reason
