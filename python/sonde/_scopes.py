"""What a program says of itself: scopes."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, TypeVar, Union, cast

from ._lanes import Lanes
from ._native import agent
from ._wrapping import wrap

F = TypeVar("F", bound=Callable[..., Any])

KINDS = {
    "step": 1,
    "operator": 2,
    "operator_inner": 3,
    "range": 4,
    "module": 5,
    "runtime": 7,
    "api": 9,
    "kernel": 10,
    "memcpy": 11,
    "memset": 12,
    "communication": 13,
    "data_loader": 14,
    "forward": 15,
    "backward": 16,
    "optimizer": 17,
}

# The domain of scopes that go on while other tasks run.
ASYNC_DOMAIN = "asyncio"

# Code that may be left in the middle: generators, coroutines, asynchronous generators.
_SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONTEXTLIB = contextlib.__file__


_recording = agent.recording
_begin_span = agent.begin_span
_end_span = agent.end_span


class _Open:
    """A scope at work. The chain of them is a task's own, as contexts are."""

    __slots__ = ("owner", "span", "arguments", "outer", "lane")

    def __init__(
        self,
        owner: "scope",
        span: Any,
        arguments: Optional[Dict[str, Any]],
        outer: "Optional[_Open]",
        lane: Optional[Tuple[str, int]] = None,
    ) -> None:
        self.owner = owner
        self.span = span
        self.arguments = arguments
        self.outer = outer
        self.lane = lane


_current: "ContextVar[Optional[_Open]]" = ContextVar("sonde_scope", default=None)

_lanes = Lanes()
_task_numbers = itertools.count(1)
# The number of a task. A context alone does not tell tasks apart: a new task has a copy of its maker's.
_task_number: "ContextVar[Optional[Tuple[int, int]]]" = ContextVar("sonde_task", default=None)


def _unlink(chain: Optional[_Open], gone: _Open) -> Optional[_Open]:
    """The chain without one member: generators, and what closes them late, end scopes out of order."""
    if chain is gone:
        return gone.outer
    at = chain
    while at is not None:
        if at.outer is gone:
            at.outer = gone.outer
            break
        at = at.outer
    return chain


def _running_task() -> Any:
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _task_facts(task: Any) -> Dict[str, Any]:
    """Which task a scope belongs to, and what it is called where somebody gave it a name."""
    known = _task_number.get()
    if known is None or known[0] != id(task):
        known = (id(task), next(_task_numbers))
        _task_number.set(known)
    facts: Dict[str, Any] = {"task": known[1]}
    name = task.get_name()
    # "Task-12" is the library's own counting; names like that would be kept for every task that ever ran.
    if not (name.startswith("Task-") and name[5:].isdigit()):
        facts["task_name"] = name
    return facts


def _user_frame(frame: Optional[FrameType]) -> Optional[FrameType]:
    while frame is not None and frame.f_code.co_filename == _CONTEXTLIB:
        frame = frame.f_back
    return frame


def _kind_number(kind: Union[str, int]) -> int:
    if isinstance(kind, int):
        return kind
    number = KINDS.get(kind)
    if number is None:
        raise ValueError("unknown kind %r: one of %s" % (kind, ", ".join(KINDS)))
    return number


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, float, str)) else str(value)


class scope:
    """A named range of time: a context manager (also asynchronous) and a decorator.

        with sonde.scope("load", kind="data_loader", file="digits"):
            ...

    kind: what it is in reports, one of KINDS. domain: its category. Other keywords are kept as its
    arguments, as is what add() is given. In code that can be suspended (coroutines, generators) it is a
    slice apart from its thread's, with the number of its task, so that those of different tasks do not mix.
    """

    __slots__ = ("name", "domain", "_kind", "_arguments", "_opened")

    def __init__(
        self, name: str, kind: Union[str, int] = "range", domain: Optional[str] = None, **arguments: Any
    ) -> None:
        self.name = name
        self.domain = domain
        number = KINDS.get(kind)  # type: ignore[arg-type]
        self._kind: int = number if number is not None else _kind_number(kind)
        self._arguments = {key: _plain(value) for key, value in arguments.items()} if arguments else None
        self._opened: Union[None, _Open, List[_Open]] = None

    def _begin(self, apart: int) -> None:
        """apart: 0 for a slice of the thread; else what tells one piece of suspended code from another."""
        if not apart:
            span = _begin_span(self.name, self._kind, self.domain, False)
            if span is not None:
                self._keep(_Open(self, span, self._arguments, _current.get()))
            return
        if not _recording():
            return
        outer = _current.get()
        arguments = dict(self._arguments) if self._arguments else {}
        task = _running_task()
        if task is not None:
            apart = id(task)
            arguments.update(_task_facts(task))
        if outer is not None:
            arguments["inside"] = outer.owner.name
        domain = self.domain or ASYNC_DOMAIN
        span = _begin_span(self.name, self._kind, _lanes.take(domain, apart), True)
        if span is None:
            _lanes.give(domain, apart)
        else:
            self._keep(_Open(self, span, arguments, outer, (domain, apart)))

    def _keep(self, opened: _Open) -> None:
        _current.set(opened)
        if self._opened is None:
            self._opened = opened
        elif isinstance(self._opened, list):
            self._opened.append(opened)
        else:
            self._opened = [self._opened, opened]

    def _find(self) -> Optional[_Open]:
        """What this object has open here; what is closed late, out of its context, is found as well."""
        if self._opened is None or isinstance(self._opened, _Open):
            return self._opened
        found = _current.get()
        while found is not None and found.owner is not self:
            found = found.outer
        return found if found is not None else self._opened[-1]

    def _end(self) -> None:
        mine = self._opened
        if mine.__class__ is not _Open:
            mine = self._find()
        if not isinstance(mine, _Open):
            return
        if mine is self._opened:
            self._opened = None
        elif isinstance(self._opened, list):
            if mine in self._opened:
                self._opened.remove(mine)
            if not self._opened:
                self._opened = None
        _end_span(mine.span, mine.arguments)
        if mine.lane is not None:
            _lanes.give(*mine.lane)
        chain = _current.get()
        if chain is not None:
            _current.set(_unlink(chain, mine))

    def add(self, **arguments: Any) -> "scope":
        """Adds arguments to the scope while it runs."""
        mine = self._find()
        if mine is not None:
            mine.arguments = dict(mine.arguments or {})
            mine.arguments.update((key, _plain(value)) for key, value in arguments.items())
        return self

    def __enter__(self) -> "scope":
        if not _recording():
            return self
        frame: Optional[FrameType] = sys._getframe(1)
        if frame is not None and frame.f_code.co_filename == _CONTEXTLIB:
            frame = _user_frame(frame)
        suspendable = frame is not None and frame.f_code.co_flags & _SUSPENDABLE
        self._begin(id(frame) if suspendable else 0)
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._opened is not None:
            self._end()

    async def __aenter__(self) -> "scope":
        self._begin(id(self))
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._end()

    def __call__(self, function: F) -> F:
        def before(apart: bool) -> "Optional[scope]":
            if not _recording():
                return None
            fresh = scope(self.name, self._kind, self.domain)
            fresh._arguments = self._arguments
            fresh._begin(id(fresh) if apart else 0)
            return fresh

        def after(opened: "Optional[scope]") -> None:
            if opened is not None:
                opened._end()

        return cast(F, wrap(function, before, after))


def open_scopes() -> List[str]:
    """The names of the scopes around the caller, the innermost one last."""
    out: List[str] = []
    at = _current.get()
    while at is not None:
        out.append(at.owner.name)
        at = at.outer
    return out[::-1]
