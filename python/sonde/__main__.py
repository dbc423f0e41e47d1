"""`python3 -m sonde [options] script.py ...`: runs a program and records it."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from typing import List, NoReturn, Optional

from . import _filters, _options, _program, _run_folder, _runner
from ._children import inject_folder
from ._native import agent
from ._profile import profile


def _say(text: str) -> None:
    try:
        sys.stderr.write("sonde: %s\n" % text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # the program closed it


class Recording:
    """The recording of the whole process, and the report at its end."""

    def __init__(self, options: _options.Options, name: str) -> None:
        self._options = options
        self._process = os.getpid()
        self.exit_code = 0
        self.signal: Optional[int] = None
        self._profile = profile(
            functions=options.functions,
            lines=options.lines,
            timeline=options.timeline,
            memory=[word for word in options.memory if word != "curve"],
            folder=options.output,
            include=options.include,
            exclude=options.exclude,
            builtins=options.builtins,
            children=inject_folder() is not None,
        )
        self._profile._name = name
        self._functions = False

    def prepare(self) -> None:
        """Everything but the recording of functions. At exit, ours is the last function: the program's own
        exit functions and threads that go on behind its end are in the recording."""
        atexit.register(self._finish)
        self._functions = self._profile._prepare()

    def begin(self) -> None:
        """Nothing may be called behind the start."""
        if self._functions:
            agent.start_functions(self._options.timeline, self._options.builtins)

    def note_end(self, error: Optional[BaseException]) -> None:
        if isinstance(error, SystemExit):
            code = error.code
            self.exit_code = 0 if code is None else code & 0xFF if isinstance(code, int) else 1
        elif isinstance(error, KeyboardInterrupt):
            self.exit_code, self.signal = 130, 2
        elif error is not None:
            self.exit_code = 1

    def _finish(self) -> None:
        # A forked child that ends in order comes here as well; what it recorded is in a file of its own.
        if os.getpid() != self._process:
            return
        self._profile._end(self.exit_code, self.signal)
        if self._options.quiet:
            return
        path = self._profile.path
        if path is None or self._profile.problem:
            _say(self._profile.problem or "nothing was recorded")
        if path is None:
            return
        shown = os.path.relpath(path)
        if shown.startswith(".."):
            shown = path
        options = self._options
        try:
            text = self._profile.report(options.view, options.style, options.sort, options.limit)
            sys.stderr.write("\n%s\n" % text)
        except _program.ReportError as error:
            _say(str(error))
        except (OSError, ValueError, AttributeError):
            return
        _say("the run lies in %s" % shown)


def _run_from_outside(options: _options.Options, name: str, words: List[str]) -> NoReturn:
    """Samples and the memory curve are taken by `sonde run`, which starts the program anew."""
    program = _program.find_program()
    if program is None:
        _say("--sample and --memory curve need it: " + _program.MISSING)
        sys.exit(1)
    modes = (("function", options.functions), ("line", options.lines), ("sample", options.sample))
    command = [program, "run", "--python", ",".join(word for word, wanted in modes if wanted) or "none"]
    if options.timeline:
        command.append("--timeline")
    if options.memory:
        command += ["--memory", ",".join(options.memory)]
    for option, values in (("--include", options.include), ("--exclude", options.exclude)):
        if values:
            command += [option, os.pathsep.join(_filters.prefixes(values))]
    special = not options.quiet and (options.view or options.style)
    folder = options.output
    if special and folder is None:
        folder = _run_folder.make_folder(None, name)
    if folder is not None:
        command += ["-o", folder]
    if options.quiet or special:
        command.append("--quiet")
    flags: List[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    command += ["--", sys.executable] + flags + words
    sys.stdout.flush()
    sys.stderr.flush()
    if not special or folder is None:
        os.execv(program, command)
    # Ctrl-C reaches the program; this process stays for the report.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = subprocess.call(command, restore_signals=True, preexec_fn=_take_interrupts)
    try:
        arguments = _program.report_arguments(folder, options.view, options.style, options.sort, options.limit)
        sys.stderr.write("\n%s\n" % _program.run_program(arguments))
    except _program.ReportError as error:
        _say(str(error))
    _say("the run lies in %s" % folder)
    sys.exit(status if status >= 0 else 128 - status)


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main(words: List[str]) -> None:
    options, program, program_words = _options.parse(words)
    if options.sample or "curve" in options.memory:
        _run_from_outside(options, program.name, program_words)
    try:
        program.prepare()
    except _runner.CannotRun as error:
        sys.stderr.write("%s\n" % error)
        sys.exit(2)
    recording = Recording(options, program.name)
    recording.prepare()
    try:
        _runner.execute(program, recording.begin)
    except BaseException as error:
        recording.note_end(error)
        raise


if __name__ == "__main__":
    main(sys.argv[1:])
