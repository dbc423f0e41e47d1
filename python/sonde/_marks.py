"""What a program says of itself at a moment: steps, counters and markers."""

from __future__ import annotations

import sys
import threading
from typing import Any, Dict, Optional, Tuple, Union

from ._native import agent


def step() -> None:
    """Ends the running step and begins the next one: for the top of a training loop."""
    torch = sys.modules.get("sonde._torch")
    if torch is not None:
        torch.name_own_steps()
    agent.step()


def last_step() -> None:
    """Ends the running step and begins none: for behind the loop."""
    agent.last_step()


def flush() -> None:
    """Sees to it that everything so far survives a crash of the machine, not only of the program."""
    agent.flush()


def name_thread(name: str) -> None:
    """Names the calling thread in reports."""
    agent.name_thread(_text(name))


def _text(value: Any) -> str:
    """A text that the agent takes: valid UTF-8, without zero bytes."""
    return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


class Counter:
    """A number over time, as counter() gives it. It keeps its value also while nothing records."""

    __slots__ = ("name", "domain", "_value", "_guard")

    def __init__(self, name: str, domain: Optional[str] = None) -> None:
        self.name = _text(name)
        self.domain = _text(domain) if domain is not None else None
        self._value: Union[int, float] = 0
        self._guard = threading.Lock()

    @property
    def value(self) -> Union[int, float]:
        return self._value

    def set(self, value: Union[int, float]) -> None:
        """The value from now on."""
        self._value = value
        if agent.recording():
            agent.counter(self.name, value if isinstance(value, int) else float(value), self.domain)

    def add(self, delta: Union[int, float] = 1) -> None:
        """Adds to the value; safe from several threads."""
        with self._guard:
            self.set(self._value + delta)

    def __iadd__(self, delta: Union[int, float]) -> "Counter":
        self.add(delta)
        return self

    def __isub__(self, delta: Union[int, float]) -> "Counter":
        self.add(-delta)
        return self


_counters: Dict[Tuple[str, Optional[str]], Counter] = {}


def counter(name: str, domain: Optional[str] = None) -> Counter:
    """The counter of this name: always the same object."""
    found = _counters.get((name, domain))
    if found is None:
        found = _counters.setdefault((name, domain), Counter(name, domain))
    return found


def marker(name: str, domain: Optional[str] = None, scope: str = "thread") -> None:
    """A moment. scope: "thread", "process" or "global", how far it reaches."""
    letter = {"thread": "t", "process": "p", "global": "g", "t": "t", "p": "p", "g": "g"}.get(scope)
    if letter is None:
        raise ValueError("scope must be 'thread', 'process' or 'global', not %r" % (scope,))
    agent.marker(_text(name), _text(domain) if domain is not None else None, letter)
