"""Magics for IPython and Jupyter: %sonde, %sonde_lines, %sonde_memory, for a statement or a whole cell."""

from __future__ import annotations

import ast
import atexit
import linecache
import os
import shutil
import tempfile
from types import CodeType
from typing import Any, List, Optional, Tuple

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from . import _html, _modes
from ._profile import profile
from ._program import ReportError

_OPTIONS = (
    argument("-v", "--view", default=None, help="a view of 'sonde report'"),
    argument("-s", "--style", default=None, help="the layout of another tool, such as pstats or line_profiler"),
    argument("--sort", default=None, help="order of the rows"),
    argument("-n", "--limit", type=int, default=None, help="how many rows; 0 for all"),
    argument("-o", "--output", default=None, help="keep the run in this folder"),
    argument("-i", "--include", action="append", default=None, help="lines of this path or module"),
    argument("-r", "--return", dest="give", action="store_true", help="return the recording, and print nothing"),
    argument("statement", nargs="*", default=[], help="what to run, where it is not a cell"),
)

_scratch: Optional[str] = None


def _scratch_folder() -> str:
    """A folder of its own for each recording, gone with the kernel."""
    global _scratch
    if _scratch is None:
        _scratch = tempfile.mkdtemp(prefix="sonde-notebook-")
        atexit.register(shutil.rmtree, _scratch, True)
    return tempfile.mkdtemp(dir=_scratch)


def _keep_sources() -> None:
    """Writes cells where their code says that they lie, so that reports can show their lines.

    A notebook compiles each cell under the name of a file that it does not make.
    """
    folder = os.path.join(tempfile.gettempdir(), "ipykernel_%d" % os.getpid())
    for name, entry in list(linecache.cache.items()):
        if os.path.dirname(name) != folder or len(entry) < 3 or os.path.exists(name):
            continue
        try:
            os.makedirs(folder, exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.writelines(entry[2])
        except OSError:
            return


def _own_file(name: str, text: str) -> str:
    """A file for a cell that has none: lines belong to files."""
    path = os.path.join(_scratch_folder(), name.strip("<>") + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def with_options(name: str) -> Any:
    def decorate(method: Any) -> Any:
        method.__name__ = name
        for option in reversed(_OPTIONS):
            method = option(method)
        return magic_arguments()(method)

    return decorate


@magics_class
class SondeMagics(Magics):
    """What took the time of a statement or a cell, and its memory."""

    @line_cell_magic
    @no_var_expand
    @with_options("sonde")
    def sonde(self, line: str, cell: Optional[str] = None) -> Any:
        """Records every call of a function: %sonde STATEMENT, or %%sonde above a cell."""
        return self._run(self.sonde, line, cell, "functions", dict(functions=True))

    @line_cell_magic
    @no_var_expand
    @with_options("sonde_lines")
    def sonde_lines(self, line: str, cell: Optional[str] = None) -> Any:
        """Records hits and time of each line of the cell and of the project's code that it calls."""
        return self._run(self.sonde_lines, line, cell, "lines", dict(functions=False, lines=True))

    @line_cell_magic
    @no_var_expand
    @with_options("sonde_memory")
    def sonde_memory(self, line: str, cell: Optional[str] = None) -> Any:
        """Records what each line of the cell, and of the project's code that it calls, does to the memory."""
        return self._run(self.sonde_memory, line, cell, "memory-lines", dict(functions=False, memory=True))

    def _run(self, magic: Any, line: str, cell: Optional[str], view: str, wish: Any) -> Any:
        own, statement = _split(line)
        options = parse_argstring(magic, own)
        source = statement if cell is None else cell
        if not source.strip():
            print("sonde: there is nothing to run: give a statement, or a cell below the line")
            return None
        compiled = self._compile(source)
        if compiled is None:
            return None
        body, last = compiled
        if wish.get("lines"):
            self._choose_functions()
        folder = options.output if options.output is not None else _scratch_folder()
        recording = profile(folder=folder, include=options.include, **wish)
        namespace = self.shell.user_ns
        error: Optional[BaseException] = None
        value = None
        try:
            with recording:
                exec(body, namespace)
                if last is not None:
                    value = eval(last, namespace)
        except Exception as raised:
            # The report is shown all the same; then the notebook shows the error as it always does.
            error = raised
        _keep_sources()
        if not options.give:
            self._show(recording, options, view)
        if error is not None:
            raise error.with_traceback(_without_first(error.__traceback__))
        if options.give:
            return recording
        return value

    def _choose_functions(self) -> None:
        """Functions of earlier cells whose code belongs to no file, as in IPython in a terminal."""
        for value in list(self.shell.user_ns.values()):
            code = getattr(value, "__code__", None)
            if isinstance(code, CodeType) and code.co_filename.startswith("<ipython-input"):
                _modes.line_codes[code] = None

    def _compile(self, source: str) -> Optional[Tuple[Any, Any]]:
        """The code of all statements, and of an expression at the end, whose value is the cell's."""
        text = self.shell.transform_cell(source)
        name = self.shell.compile.cache(text, self.shell.execution_count, raw_code=source)
        if name.startswith("<"):
            name = _own_file(name, text)
        tree = self.shell.compile.ast_parse(text, filename=name)
        tree = self.shell.transform_ast(tree)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not text.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), name, "eval", _flags(self.shell))
        body = compile(tree, name, "exec", _flags(self.shell))
        awaits = 0x80 | 0x200
        if body.co_flags & awaits or (last is not None and last.co_flags & awaits):
            print("sonde: 'await' at the top of a cell cannot be recorded by a magic; use 'with sonde.profile():' in the cell")
            return None
        return body, last

    def _show(self, recording: profile, options: Any, view: str) -> None:
        totals = recording.totals.text()
        wanted = options.view or (None if options.style else view)
        try:
            text = recording.report(wanted, options.style, options.sort, options.limit)
        except ReportError as error:
            print("%s\nsonde: %s" % (totals, error))
            return
        shown = {"text/plain": "%s\n\n%s" % (totals, text.rstrip("\n"))}
        if options.style is None:
            limit = options.limit if options.limit is not None else 20
            facts = recording.report(wanted, None, options.sort, limit, "json")
            shown["text/html"] = _html.of_report(facts, totals)
        display(shown, raw=True)


def _flags(shell: Any) -> int:
    return int(shell.compile.flags) | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _without_first(trace: Any) -> Any:
    """Without the frame of the magic itself."""
    return trace.tb_next if trace is not None and trace.tb_next is not None else trace


def _split(line: str) -> Tuple[str, str]:
    """Our options at the front of the line, and the statement behind them as it stands."""
    takes_value = {"-v", "--view", "-s", "--style", "--sort", "-n", "--limit", "-o", "--output", "-i", "--include"}
    own: List[str] = []
    rest = line.strip()
    while rest.startswith("-"):
        word, _, rest = rest.partition(" ")
        rest = rest.lstrip()
        if word == "--":
            break
        own.append(word)
        if word in takes_value and rest:
            value, _, rest = rest.partition(" ")
            rest = rest.lstrip()
            own.append(value)
    return " ".join(own), rest
