"""Recording a piece of a program from its own code."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType
from typing import Any, Callable, Iterable, List, Optional, TextIO, Type, Union

from . import _children, _filters, _modes, _native, _program, _run_folder, _totals
from ._native import agent

PathLike = Union[str, "os.PathLike[str]"]

_lock = threading.RLock()
# Recordings that run: the innermost one last.
_open: List["profile"] = []


def memory_words(memory: Any) -> List[str]:
    """What `memory=` means: True, or words among "lines" and "objects"."""
    if not memory:
        return []
    if memory is True:
        return [_modes.LINE_MEMORY, _modes.MEMORY_LINES]
    words = memory.split(",") if isinstance(memory, str) else list(memory)
    known = {"lines": [_modes.LINE_MEMORY, _modes.MEMORY_LINES], "objects": [_modes.OBJECTS]}
    out: List[str] = []
    for word in words:
        if word not in known:
            raise ValueError("memory must be True, 'lines' or 'objects', not %r" % (word,))
        out += known[word]
    return out


class profile:
    """Records what happens between start() and stop(), or in a `with` block.

    functions: every call of Python and C functions, summed up. timeline: each call by itself as well.
    lines: hits and time of each line; True for the project's code, or paths and names of modules.
    memory: what each line allocates ("lines"), objects by type at both ends ("objects"), True for "lines".
    folder: where the run lies; without it sonde-runs/NAME-TIME. include, exclude: paths and names of
    modules whose lines are recorded, or not. builtins: C functions count as functions.
    children: Python processes that are started meanwhile are recorded as well.

    Inside of another recording it adds what that one has not, and shares its folder. Where there is no
    agent for this interpreter it does nothing: see why_not().
    """

    def __init__(
        self,
        functions: bool = True,
        lines: Union[bool, str, Iterable[str]] = False,
        timeline: bool = False,
        memory: Union[bool, str, Iterable[str]] = False,
        objects: bool = False,
        folder: Optional[PathLike] = None,
        include: Optional[Iterable[str]] = None,
        exclude: Optional[Iterable[str]] = None,
        builtins: bool = True,
        children: bool = True,
        exact_memory: bool = False,
    ) -> None:
        words = []
        if functions or timeline:
            words.append(_modes.FUNCTION)
        if timeline:
            words.append(_modes.TIMELINE)
        if lines:
            words.append(_modes.LINE)
            if lines is not True:
                include = list(include or ()) + ([lines] if isinstance(lines, str) else list(lines))
        words += memory_words(memory)
        if objects and _modes.OBJECTS not in words:
            words.append(_modes.OBJECTS)
        # What was asked for goes to children as it is: each has its own standard library.
        self._include = _filters.prefixes(include)
        self._exclude = _filters.prefixes(exclude)
        self._wish = _modes.Wish(words, _filters.filters(self._include, self._exclude), builtins, exact_memory)
        self._wanted_folder = os.fspath(folder) if folder is not None else None
        self._follow = children
        self._name: Optional[str] = None
        self._folder: Optional[str] = None
        self._run_file: Optional[_run_folder.RunFile] = None
        self._environment: Optional[_children.ChildEnvironment] = None
        self._started: List[str] = []
        self._stop_functions: Callable[[], None] = _nothing
        self._owner = False
        self._running = False
        self.totals = _totals.Totals()
        self.problem: Optional[str] = _native.why_not()

    # ---- Recording

    def start(self) -> "profile":
        """Begins to record; nothing where this object records already."""
        timeline, builtins = _modes.TIMELINE in self._wish.words, self._wish.builtins
        # Nothing is called behind this, so that nothing of this function is in the recording.
        if self._prepare():
            agent.start_functions(timeline, builtins)
        return self

    def _prepare(self) -> bool:
        """Starts everything but functions. Whether they are wanted and not recorded yet."""
        with _lock:
            if self._running:
                return False
            self._running = True
            self.problem = _native.why_not()
            try:
                self._begin()
            except OSError as error:
                # A profiler that cannot write must not stop the program.
                self.problem = "nothing is recorded: %s" % error
            _open.append(self)
        if self._folder is not None:
            self._started, problems = _modes.start(self._wish)
            self.problem = "; ".join(problems) or None
        functions = _modes.FUNCTION in self._started
        if functions:
            self._stop_functions = agent.stop_functions
        self.totals.start()
        return functions

    def _begin(self) -> None:
        if self.problem is not None:
            return
        # Somebody else records already: this recording, `sonde run`, or the program by SONDE_RUN_DIR.
        self._owner = agent.path() is None
        if not self._owner:
            self._folder = _folder_of(agent.start(None))
            return
        folder = _run_folder.make_folder(self._wanted_folder, self._name or _program_name())
        self._run_file = _run_folder.RunFile(folder)
        self._run_file.write()
        self._folder = _folder_of(agent.start(folder))
        if self._follow:
            words = self._wish.words
            self._environment = _children.ChildEnvironment(folder, words, self._include, self._exclude)
            self._environment.enter()

    def stop(self) -> "profile":
        """Ends the recording. What was recorded stays in `path`."""
        self._stop_functions()
        return self._end(None, None)

    def _end(self, exit_code: Optional[int], signal: Optional[int]) -> "profile":
        self._stop_functions = _nothing
        with _lock:
            if not self._running:
                return self
            self._running = False
            self.totals.stop()
            _modes.stop(self._started)
            self._started = []
            if self in _open:
                _open.remove(self)
            if self._environment is not None:
                self._environment.leave()
                self._environment = None
            if self._owner:
                self._owner = False
                agent.stop()
                _modes.forget()
            elif self._folder is not None:
                agent.flush()
            if self._run_file is not None:
                try:
                    self._run_file.write(exit_code, signal, ended=True)
                except OSError as error:
                    self.problem = "run.json cannot be written: %s" % error
                self._run_file = None
        return self

    def __enter__(self) -> "profile":
        return self.start()

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._stop_functions()
        self._end(None, None)

    @property
    def running(self) -> bool:
        return self._running

    @property
    def path(self) -> Optional[str]:
        """The folder of the run, for `sonde report`; None where nothing was recorded."""
        return self._folder

    # ---- Answers, by the program `sonde`

    def _place(self) -> str:
        if self._folder is None:
            raise _program.ReportError(self.problem or "nothing was recorded: start() was not called")
        return self._folder

    def report(
        self,
        view: Optional[str] = None,
        style: Optional[str] = None,
        sort: Optional[str] = None,
        limit: Optional[int] = None,
        format: Optional[str] = None,
    ) -> str:
        """The text of `sonde report` of this run. Raises ReportError where there is none."""
        return _program.run_program(_program.report_arguments(self._place(), view, style, sort, limit, format))

    def print(
        self,
        view: Optional[str] = "functions",
        style: Optional[str] = None,
        sort: Optional[str] = None,
        limit: Optional[int] = None,
        file: Optional[TextIO] = None,
    ) -> None:
        """Prints a view of the run, or the layout of another tool; or one line that says why it cannot."""
        try:
            text = self.report(None if style else view, style, sort, limit)
        except _program.ReportError as error:
            where = "" if self._folder is None else "; the run lies in " + self._folder
            text = "sonde: %s%s\n" % (error, where)
        print(text, end="" if text.endswith("\n") else "\n", file=file if file is not None else sys.stdout)

    def export(self, target: PathLike, to: Optional[str] = None) -> str:
        """Writes the run for another tool (see `sonde help export`); returns the path of the file.

        `to` names the format; without it the ending of the name does. Raises ReportError.
        """
        name = os.fspath(target)
        arguments = ["export", self._place(), "-o", name]
        if to is not None:
            arguments += ["--to", to]
        _program.run_program(arguments)
        return name

    def _repr_html_(self) -> Optional[str]:
        """A table for notebooks."""
        from . import _html

        try:
            return _html.of_report(self.report("functions", format="json", limit=20), self.totals.text())
        except _program.ReportError:
            return None

    def __repr__(self) -> str:
        state = "records into" if self._running else "recorded into"
        if self._folder is None:
            return "<sonde.profile: %s>" % (self.problem or "not started")
        return "<sonde.profile %s %s>" % (state, self._folder)


def _nothing() -> None:
    return None


def _program_name() -> str:
    return os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"


def _folder_of(recording: str) -> str:
    return os.path.dirname(os.path.abspath(recording))


def start(*arguments: Any, **keywords: Any) -> profile:
    """Begins to record, with the arguments of profile(). stop() ends it."""
    return profile(*arguments, **keywords).start()


def stop() -> Optional[profile]:
    """Ends the recording that was begun last, and returns it; None where there is none."""
    with _lock:
        last = _open[-1] if _open else None
    return last.stop() if last is not None else None
