"""Sonde, a profiler for machine-learning programs: what a program uses to record itself.

    with sonde.profile(lines=True) as p:
        train()
    p.print("functions")

See docs/python-api.md. `python3 -m sonde script.py` records a program without a change to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ._benchmark import StepCost, benchmark
    from ._decorators import Timing, lines, memory, time, timings
    from ._marks import Counter, counter, flush, last_step, marker, name_thread, step
    from ._native import why_not
    from ._profile import profile, start, stop
    from ._program import ReportError
    from ._scopes import scope
    from ._totals import Totals

# Where each name lies. They are loaded when they are used: the agent alone, as in the children of
# `sonde run`, needs none of them.
_HOMES = {
    "Counter": "_marks",
    "ReportError": "_program",
    "StepCost": "_benchmark",
    "Timing": "_decorators",
    "Totals": "_totals",
    "benchmark": "_benchmark",
    "counter": "_marks",
    "flush": "_marks",
    "last_step": "_marks",
    "lines": "_decorators",
    "marker": "_marks",
    "memory": "_decorators",
    "name_thread": "_marks",
    "profile": "_profile",
    "scope": "_scopes",
    "start": "_profile",
    "step": "_marks",
    "stop": "_profile",
    "time": "_decorators",
    "timings": "_decorators",
    "why_not": "_native",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError("module 'sonde' has no attribute %r" % name)
    import importlib

    value = getattr(importlib.import_module("." + home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(_HOMES))


def load_ipython_extension(shell: Any) -> None:
    """For notebooks: `%load_ext sonde`."""
    from ._magics import SondeMagics

    shell.register_magics(SondeMagics)
