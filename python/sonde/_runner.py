"""Runs a script or a module as the interpreter itself would, as `__main__`."""

from __future__ import annotations

import io
import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader, SourcelessFileLoader
from types import CodeType, TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

Call = Tuple[Callable[..., Any], Tuple[Any, ...]]


class CannotRun(Exception):
    """There is nothing to run: the sentence is the interpreter's own. Its exit code is 2."""


def _set_first_path(folder: str) -> None:
    """sys.path[0], where `python3 -m sonde` has put the folder that we are in."""
    if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
        return
    if sys.path:
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)


def _new_main() -> types.ModuleType:
    """An empty `__main__`, as it is when the interpreter begins."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=__import__("builtins"))
    if sys.version_info < (3, 14):
        module.__dict__.update(__annotations__={})
    sys.modules["__main__"] = module
    return module


def _read_code(path: str) -> CodeType:
    with io.open_code(path) as file:
        data = file.read()
    if path.endswith(".pyc"):
        from importlib.util import MAGIC_NUMBER
        import marshal

        if data[: len(MAGIC_NUMBER)] != MAGIC_NUMBER:
            raise RuntimeError("Bad magic number in .pyc file")
        code: CodeType = marshal.loads(data[16:])
        return code
    return compile(data, path, "exec", dont_inherit=True)


class Program:
    """What is to be run. prepare() sets up sys.argv, sys.path and `__main__`; load() gives a call that runs it."""

    name = "python"

    def prepare(self) -> None:
        raise NotImplementedError

    def load(self) -> Call:
        raise NotImplementedError


class Script(Program):
    """A file, a folder or an archive with a `__main__`, as in `python3 script.py`."""

    def __init__(self, path: str, arguments: List[str]) -> None:
        self.name = os.path.basename(os.path.abspath(path))
        self._path = path
        self._arguments = arguments
        self._namespace: Dict[str, Any] = {}
        self._file = os.path.abspath(path)

    def prepare(self) -> None:
        path = self._path
        if not os.path.exists(path):
            what = "can't open file %r: [Errno 2] No such file or directory" % self._file
            raise CannotRun("%s: %s" % (sys.executable, what))
        sys.argv[:] = [path] + self._arguments
        if self._is_container():
            _new_main()
            _set_first_path(self._file)
            return
        # As the interpreter does: the folder of the file itself, where the path is a link.
        _set_first_path(os.path.dirname(os.path.realpath(path)))
        module = _new_main()
        loader = SourcelessFileLoader if path.endswith(".pyc") else SourceFileLoader
        module.__dict__.update(__file__=self._file, __cached__=None, __loader__=loader("__main__", self._file))
        self._namespace = module.__dict__
        try:
            open(self._file, "rb").close()
        except OSError as error:
            what = "can't open file %r: [Errno %d] %s" % (self._file, error.errno or 0, error.strerror)
            raise CannotRun("%s: %s" % (sys.executable, what)) from None

    def _is_container(self) -> bool:
        import zipfile

        return os.path.isdir(self._path) or (not self._path.endswith((".py", ".pyc")) and zipfile.is_zipfile(self._path))

    def load(self) -> Call:
        if not self._namespace:
            return runpy._run_module_as_main, ("__main__", False)  # type: ignore[attr-defined]
        return exec, (_read_code(self._file), self._namespace)


class Module(Program):
    """A module, as in `python3 -m module`."""

    def __init__(self, name: str, arguments: List[str]) -> None:
        self.name = name
        self._arguments = arguments

    def prepare(self) -> None:
        sys.argv[:] = ["-m"] + self._arguments
        _new_main()
        _set_first_path(os.getcwd())

    def load(self) -> Call:
        return runpy._run_module_as_main, (self.name,)  # type: ignore[attr-defined]


class Command(Program):
    """A text, as in `python3 -c text`."""

    name = "command"

    def __init__(self, text: str, arguments: List[str]) -> None:
        self._text = text
        self._arguments = arguments
        self._namespace: Dict[str, Any] = {}

    def prepare(self) -> None:
        sys.argv[:] = ["-c"] + self._arguments
        module = _new_main()
        module.__loader__ = __import__("_frozen_importlib").BuiltinImporter
        self._namespace = module.__dict__
        _set_first_path("")

    def load(self) -> Call:
        if sys.version_info >= (3, 13):
            # As the interpreter does from there on: tracebacks show the text.
            import linecache

            linecache.cache["<string>"] = (len(self._text), None, self._text.splitlines(True), "<string>")
        return exec, (compile(self._text, "<string>", "exec", dont_inherit=True), self._namespace)


def execute(program: Program, begin: Callable[[], None]) -> None:
    """Calls begin() and runs the program. What it raises goes on, without our part of the traceback."""
    try:
        call, arguments = program.load()
        begin()
        call(*arguments)
    except SystemExit:
        raise
    except BaseException:
        _hide_our_frames()
        raise


def _hide_our_frames() -> None:
    """Lets the interpreter show the traceback as if the program had been run by itself.

    Only now, when the program is over: until here it has found sys.excepthook as it always is.
    """
    hook = sys.excepthook

    def show(kind: Type[BaseException], value: BaseException, trace: Optional[TracebackType]) -> None:
        sys.excepthook = hook
        trace = without_our_frames(trace)
        value.__traceback__ = trace
        hook(kind, value, trace)

    sys.excepthook = show


def without_our_frames(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    """The part of a traceback behind the last frame of this file."""
    ours = None
    at = trace
    while at is not None:
        if at.tb_frame.f_code.co_filename == __file__:
            ours = at
        at = at.tb_next
    return ours.tb_next if ours is not None else trace
