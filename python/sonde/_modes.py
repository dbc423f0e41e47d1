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
# The memory of one decorated function; its number follows.
_CHOSEN_MEMORY = "chosen-memory-"


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


class Started(NamedTuple):
    """What start() started, and what it could not start, as sentences for the user."""

    words: List[str]
    problems: List[str]


def start(wish: Wish) -> Started:
    """Starts what is wished for and does not run yet.

    Only functions are left to the caller, who calls start_functions() where FUNCTION is in the answer: what
    happens behind that call is in the recording.
    """
    started = Started([], [])

    def begin(word: str, function: str, *arguments: Any) -> None:
        if word in _running:
            return
        try:
            getattr(agent, function)(*arguments)
        except (AttributeError, OSError, RuntimeError) as error:
            # A profiler that cannot record something must not stop the program.
            started.problems.append("%s is not recorded: %s" % (word, error))
            return
        _running.add(word)
        started.words.append(word)

    include, exclude = wish.filters
    if OBJECTS in wish.words:
        begin(OBJECTS, "start_objects")
    for code in list(line_codes):
        agent.add_line_code(code)
    if LINE in wish.words:
        if _CHOSEN in _running:
            agent.stop_lines()
            _running.discard(_CHOSEN)
        begin(LINE, "start_lines", include, exclude)
    elif line_codes and LINE not in _running:
        begin(_CHOSEN, "start_lines", *_NOTHING_ELSE)
    # Behind lines: it hands on what a trace function that was there before is to see, and ends first.
    if LINE_MEMORY in wish.words:
        begin(LINE_MEMORY, "start_line_memory", include, exclude)
    for code in list(memory_codes):
        begin(_CHOSEN_MEMORY + str(id(code)), "add_memory_code", code)
    if MEMORY_LINES in wish.words:
        begin(MEMORY_LINES, "start_memory_lines", MEMORY_GAP, wish.exact_memory)
    if FUNCTION in wish.words and FUNCTION not in _running:
        words = [FUNCTION, TIMELINE] if TIMELINE in wish.words else [FUNCTION]
        _running.update(words)
        started.words.extend(words)
    elif TIMELINE in wish.words and TIMELINE not in _running:
        agent.stop_functions()
        begin(TIMELINE, "start_functions", True, wish.builtins)
    return started


def stop(started: List[str]) -> None:
    """Stops what start() started; functions are stopped already."""
    runs = agent.running()
    for word in reversed(started):
        if not runs:
            pass  # the end of the interpreter came first
        elif word == TIMELINE and FUNCTION not in started:
            agent.stop_functions()
            agent.start_functions(False, True)  # the sums of the recording around this one go on
        elif word in (LINE, _CHOSEN):
            agent.stop_lines()
        elif word == MEMORY_LINES:
            agent.stop_memory_lines()
        elif word == LINE_MEMORY or word.startswith(_CHOSEN_MEMORY):
            agent.stop_line_memory()
        elif word == OBJECTS:
            agent.stop_objects()
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
    return bool(agent.running())


def add_line_code(code: Any) -> None:
    """Records the lines of this code, in the recording that runs and in every later one."""
    line_codes[code] = None
    if not _joined():
        return
    try:
        agent.add_line_code(code)
        if LINE not in _running and _CHOSEN not in _running:
            agent.start_lines(*_NOTHING_ELSE)
            _running.add(_CHOSEN)
    except (OSError, RuntimeError):
        return  # the program comes first


def add_memory_code(code: Any) -> None:
    """The same for the memory around each line."""
    memory_codes[code] = None
    word = _CHOSEN_MEMORY + str(id(code))
    if not _joined() or word in _running:
        return
    try:
        agent.add_memory_code(code)
    except (AttributeError, OSError, RuntimeError):
        return
    _running.add(word)
