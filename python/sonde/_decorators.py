"""Decorators: a function's time, its lines, its memory."""

from __future__ import annotations

import functools
import inspect
import threading
import time as _clock
from typing import Any, Callable, Dict, Optional, TypeVar, Union, overload

from . import _modes, _totals
from ._native import agent
from ._scopes import scope
from ._wrapping import wrap

F = TypeVar("F", bound=Callable[..., Any])


class Timing:
    """The calls of a decorated function: how many, and how long in seconds. Of a generator, its steps."""

    __slots__ = ("name", "calls", "total", "shortest", "longest", "_guard")

    def __init__(self, name: str) -> None:
        self.name = name
        self._guard = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self.calls = 0
        self.total = 0.0
        self.shortest = float("inf")
        self.longest = 0.0

    @property
    def mean(self) -> float:
        return self.total / self.calls if self.calls else 0.0

    def _add(self, seconds: float) -> None:
        with self._guard:
            self.calls += 1
            self.total += seconds
            if seconds < self.shortest:
                self.shortest = seconds
            if seconds > self.longest:
                self.longest = seconds

    def __str__(self) -> str:
        if not self.calls:
            return "%s: not called" % self.name
        text = _totals.time_text
        return "%s: %d calls, %s in all, %s each (%s to %s)" % (
            self.name,
            self.calls,
            text(self.total),
            text(self.mean),
            text(self.shortest),
            text(self.longest),
        )


_timings: Dict[str, Timing] = {}


def timings() -> Dict[str, Timing]:
    """What @time has measured so far, by the names of the functions."""
    return dict(_timings)


def _name_of(function: Any) -> str:
    inner = function.__func__ if isinstance(function, (staticmethod, classmethod)) else function
    return getattr(inner, "__qualname__", None) or getattr(inner, "__name__", None) or repr(inner)


def _time(function: Any, name: Optional[str], kind: Union[str, int], domain: Optional[str]) -> Any:
    label = name if name is not None else _name_of(function)
    timing = Timing(label)
    _timings[label] = timing

    now = _clock.perf_counter

    def before(apart: bool) -> Any:
        if not agent.recording():
            return None, now()
        opened = scope(label, kind, domain)
        opened._begin(id(opened) if apart else 0)
        return opened, now()

    def after(state: Any) -> None:
        seconds = now() - state[1]
        if state[0] is not None:
            state[0]._end()
        timing._add(seconds)

    wrapped = wrap(function, before, after)
    target: Any = wrapped.__func__ if isinstance(wrapped, (staticmethod, classmethod)) else wrapped
    target.timing = timing
    return wrapped


@overload
def time(function: F) -> F: ...


@overload
def time(
    function: None = None, *, name: Optional[str] = None, kind: Union[str, int] = "range", domain: Optional[str] = None
) -> Callable[[F], F]: ...


def time(
    function: Any = None, *, name: Optional[str] = None, kind: Union[str, int] = "range", domain: Optional[str] = None
) -> Any:
    """Times each call of a function: a slice in a recording, and sums in `function.timing` at all times.

    With and without parentheses, on functions, methods, coroutines and generators.
    """
    if function is None:
        return lambda inner: _time(inner, name, kind, domain)
    return _time(function, name, kind, domain)


def _code_of(function: Any) -> Any:
    """The code object behind decorators, methods and partial functions; None where it is not Python's."""
    for _ in range(32):
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, property) and function.fget is not None:
            function = function.fget
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        else:
            break
    return getattr(function, "__code__", None)


def _marked(function: Any, mark: Callable[[Any], None]) -> Any:
    code = _code_of(function)
    if code is None:
        raise TypeError("only functions that are written in Python have lines, not %r" % (function,))
    mark(code)
    return function


@overload
def lines(function: F) -> F: ...


@overload
def lines(function: None = None) -> Callable[[F], F]: ...


def lines(function: Any = None) -> Any:
    """Records hits and time of each line of a function, in every recording: `@lines` or `@lines()`.

    The function itself is left as it is. A recording is made by profile(), `python3 -m sonde` or `sonde run`.
    """
    if function is None:
        return lines
    return _marked(function, _modes.add_line_code)


@overload
def memory(function: F) -> F: ...


@overload
def memory(function: None = None) -> Callable[[F], F]: ...


def memory(function: Any = None) -> Any:
    """Records the process's memory around each line of a function, in every recording."""
    if function is None:
        return memory
    return _marked(function, _modes.add_memory_code)
