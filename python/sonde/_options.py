"""The command line of `python3 -m sonde`."""

from __future__ import annotations

import argparse
from typing import List, NamedTuple, Optional, Tuple

from ._runner import Command, Module, Program, Script

_DESCRIPTION = """\
Runs a program of Python, records it and the Python processes that it starts, and tells what took the time.
Without an option that says what to record, functions are. The program's output, its exit code and what it sees
of its arguments and paths are those of 'python3 script.py'. The report goes to standard error."""

_EXAMPLES = """\
examples:
  python3 -m sonde train.py --epochs 1             every call of every function, summed up
  python3 -m sonde --lines -v lines train.py       hits and time of each line of the project
  python3 -m sonde --lines --include numpy x.py    the lines of a module
  python3 -m sonde --memory lines -m package.tool  what each line allocates"""


class Options(NamedTuple):
    """What the user asked for."""

    functions: bool
    lines: bool
    timeline: bool
    sample: bool
    memory: List[str]
    output: Optional[str]
    include: List[str]
    exclude: List[str]
    builtins: bool
    view: Optional[str]
    style: Optional[str]
    sort: Optional[str]
    limit: Optional[int]
    quiet: bool


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m sonde",
        usage="python3 -m sonde [options] (script.py | -m module | -c text) [arguments]",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    what = parser.add_argument_group("what to record")
    what.add_argument("--functions", action="store_true", help="every call of a function, summed up (the default)")
    what.add_argument("--lines", action="store_true", help="hits and time of each line of the project")
    what.add_argument("--timeline", action="store_true", help="each call of a function by itself")
    what.add_argument("--sample", action="store_true", help="stacks of all threads, from outside, 100 times a second")
    what.add_argument(
        "--memory",
        metavar="WHAT",
        action="append",
        default=[],
        help="curve, lines, objects; several with commas",
    )
    what.add_argument("--no-builtins", action="store_true", help="leave out functions that are written in C")
    what.add_argument(
        "--include", metavar="PLACE", action="append", default=[], help="lines of this path or module only"
    )
    what.add_argument("--exclude", metavar="PLACE", action="append", default=[], help="no lines of this path or module")
    shown = parser.add_argument_group("what to show afterwards")
    shown.add_argument("-o", "--output", metavar="DIR", help="folder for the run (default: sonde-runs/NAME-TIME)")
    shown.add_argument("-v", "--view", help="a view of 'sonde report': functions, lines, callgraph, memory-lines ...")
    shown.add_argument("-s", "--style", help="the layout of another tool: pstats, line_profiler, memory_profiler ...")
    shown.add_argument("--sort", metavar="KEY", help="order of the rows")
    shown.add_argument("-n", "--limit", metavar="N", type=int, help="how many rows; 0 for all")
    shown.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    return parser


def _split(parser: argparse.ArgumentParser, words: List[str]) -> Tuple[List[str], List[str]]:
    """Our own options, and what begins with the program."""
    takes_value = {
        option for action in parser._actions if action.nargs is None for option in action.option_strings
    }
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[:at], words[at + 1 :]
        if word in ("-m", "-c") or not word.startswith("-") or word == "-":
            break
        if word.startswith("-m") or word.startswith("-c"):
            break
        at += 2 if word in takes_value else 1
    return words[:at], words[at:]


def _program(parser: argparse.ArgumentParser, words: List[str]) -> Program:
    if not words:
        parser.error("there is no program to run: name a script, or -m and a module")
    first, rest = words[0], words[1:]
    if first[:2] in ("-m", "-c"):
        kind = first[:2]
        if len(first) > 2:
            rest = [first[2:]] + rest
        if not rest:
            parser.error("%s needs %s" % (kind, "the name of a module" if kind == "-m" else "a text"))
        return Module(rest[0], rest[1:]) if kind == "-m" else Command(rest[0], rest[1:])
    return Script(first, rest)


def parse(words: List[str]) -> Tuple[Options, Program, List[str]]:
    """Our options, the program, and the words of the program as they stand. Exits with 2 where they are wrong."""
    parser = _parser()
    own, program_words = _split(parser, words)
    found = parser.parse_args(own)
    memory: List[str] = []
    for given in found.memory:
        for word in given.split(","):
            if word not in ("curve", "lines", "objects"):
                parser.error("--memory: %r is not one of curve, lines, objects" % word)
            if word not in memory:
                memory.append(word)
    program = _program(parser, program_words)
    chosen = found.functions or found.lines or found.timeline or found.sample or memory
    options = Options(
        functions=found.functions or found.timeline or not chosen,
        lines=found.lines,
        timeline=found.timeline,
        sample=found.sample,
        memory=memory,
        output=found.output,
        include=found.include,
        exclude=found.exclude,
        builtins=not found.no_builtins,
        view=found.view,
        style=found.style,
        sort=found.sort,
        limit=found.limit,
        quiet=found.quiet,
    )
    return options, program, program_words
