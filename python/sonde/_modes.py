"""What the agent records, and who switched it on."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NamedTuple, Set

from . import _filters
from ._native import agent

# About one sampled allocation for each so many bytes.
MEMORY_GAP = 512 * 1024

# Words of SONDE_PYTHON, which `sonde run` gives to the processes that it records.
FUNCTION, TIMELINE, LINE = "function", "timeline", "line"
MEMORY_LINES, LINE_MEMORY, OBJECTS = "memory-lines", "line-memory", "objects"
# Lines of decorated functions only: no file is recorded for its place.
_CHOSEN = "chosen-lines"
_NOTHING_ELSE: _filters.Filters = ([], [""])


class Wish(NamedTuple):
    """What to record, as the words of SONDE_PYTHON."""

    words: List[str]
    filters: _filters.Filters
    builtins: bool = True
    exact_memory: bool = False


# Modes that run, whoever started them. Those that `sonde run` asked for run before this is loaded.
_running: Set[str] = set()
if agent.running():
    _running.update(word.strip() for word in os.environ.get("SONDE_PYTHON", "").split(",") if word.strip())
# Code that decorators named.
line_codes: Dict[Any, None] = {}
memory_codes: Dict[Any, None] = {}


def start(wish: Wish) -> List[str]:
    """Starts what is wished for and does not run yet; returns what was started, for stop().

    Only functions are left to the caller, who calls start_functions() where FUNCTION is in the answer: what
    happens behind that call is in the recording.
    """
    started: List[str] = []

    def begin(word: str, function: str, *arguments: Any) -> None:
        if word in _running or not hasattr(agent, function):
            return
        getattr(agent, function)(*arguments)
        _running.add(word)
        started.append(word)

    include, exclude = wish.filters
    if OBJECTS in wish.words and OBJECTS not in _running and hasattr(agent, "snapshot_objects"):
        agent.snapshot_objects("start")
        _running.add(OBJECTS)
        started.append(OBJECTS)
    if LINE_MEMORY in wish.words:
        begin(LINE_MEMORY, "start_line_memory", include, exclude)
    elif memory_codes and not hasattr(agent, "add_memory_code"):
        files = sorted({code.co_filename for code in memory_codes})
        begin(LINE_MEMORY, "start_line_memory", files, [])
    if hasattr(agent, "add_memory_code"):
        for code in list(memory_codes):
            agent.add_memory_code(code)
    if MEMORY_LINES in wish.words:
        begin(MEMORY_LINES, "start_memory_lines", MEMORY_GAP, wish.exact_memory)
    for code in list(line_codes):
        agent.add_line_code(code)
    if LINE in wish.words:
        if _CHOSEN in _running:
            agent.stop_lines()
            _running.discard(_CHOSEN)
        begin(LINE, "start_lines", include, exclude)
    elif line_codes and LINE not in _running:
        begin(_CHOSEN, "start_lines", *_NOTHING_ELSE)
    if FUNCTION in wish.words and FUNCTION not in _running and hasattr(agent, "start_functions"):
        _running.add(FUNCTION)
        started.append(FUNCTION)
    return started


def stop(started: List[str]) -> None:
    """Stops what start() started; functions are stopped already."""
    runs = agent.running()
    for word in reversed(started):
        if not runs:
            pass  # the end of the interpreter came first
        elif word in (LINE, _CHOSEN):
            agent.stop_lines()
        elif word == MEMORY_LINES:
            agent.stop_memory_lines()
        elif word == LINE_MEMORY:
            agent.stop_line_memory()
        elif word == OBJECTS:
            agent.snapshot_objects("end")
        _running.discard(word)


def forget() -> None:
    """The recording is over, and with it what decorators started in it."""
    _running.clear()


def _joined() -> bool:
    """Whether the agent records; it joins a recorder that is at work already, as under `sonde run`."""
    if not agent.running() and agent.path() is not None:
        try:
            agent.start(None)
        except OSError:
            return False
    return agent.running()


def add_line_code(code: Any) -> None:
    """Records the lines of this code, in the recording that runs and in every later one."""
    line_codes[code] = None
    if not _joined():
        return
    agent.add_line_code(code)
    if LINE not in _running and _CHOSEN not in _running:
        agent.start_lines(*_NOTHING_ELSE)
        _running.add(_CHOSEN)


def add_memory_code(code: Any) -> None:
    """The same for the memory around each line."""
    memory_codes[code] = None
    if not _joined():
        return
    if hasattr(agent, "add_memory_code"):
        agent.add_memory_code(code)
    elif LINE_MEMORY not in _running and hasattr(agent, "start_line_memory"):
        agent.start_line_memory([code.co_filename], [])
        _running.add(LINE_MEMORY)
