"""The copies of code with probes in them, by which lines are recorded in CPython 3.11: they are the code with nothing but
probes in it, and tell of the lines that a trace function is told of.

    line_copies.py PACKAGE_FOLDER TESTS_SUPPORT_FOLDER SCRATCH_FOLDER
"""

import collections
import gc
import glob
import os
import subprocess
import sys
import threading
import types
import weakref

PACKAGE, SUPPORT, SCRATCH = sys.argv[1:4]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
sys.path[:0] = [PACKAGE, SUPPORT, PROGRAMS]
import constructs  # noqa: E402
import opcode  # noqa: E402
import tables  # noqa: E402
import workloads  # noqa: E402
from sonde import _agent  # noqa: E402

OPCODES = opcode.opmap


def check(condition, *what):
    if not condition:
        raise SystemExit("wrong: " + " ".join(map(str, what)))


def recorded(work, name, include=(PROGRAMS,)):
    """The table of what is recorded while `work` runs, and what it returned."""
    path = _agent.start(os.path.join(SCRATCH, name))
    _agent.start_lines(list(include), [])
    work()
    _agent.stop_lines()
    _agent.stop()
    return tables.Tables(path.replace(".sonde", ".tables"))


def hits_of(table, file):
    return {line: hits for (path, line), (hits, _) in table.lines().items() if path == file}


# ---- The same lines as a trace function ---------------------------------------------------------


def traced(work, file):
    """All that a trace function is told of the file: (event, function, line), in their order."""
    events = []

    def trace(frame, event, argument):
        if frame.f_code.co_filename != file:
            return None
        events.append((event, frame.f_code.co_name, frame.f_lineno))
        return trace

    sys.settrace(trace)
    work()
    sys.settrace(None)
    return events


def counts(work):
    """Whether a work does the same each time that it is done; asyncio does not."""
    return work is not constructs.coroutines


def same_lines_as_a_trace_function():
    compared = 0
    for module, works in ((constructs, constructs.ALL), (workloads, workloads.SINGLE)):
        for work in works:
            work()
            gc.collect()
            name = work.__name__ + " of " + module.__name__
            events = traced(work, module.__file__)
            expected = collections.Counter(line for event, _, line in events if event == "line")
            table = recorded(work, work.__name__)
            check(table.properties["python.lines.hook"] == "probes in copies of the code", table.properties)
            check("python.lines.traced" not in table.properties, name, table.properties)
            found = hits_of(table, module.__file__)
            check(found == expected, name, [(line, found.get(line), expected.get(line))
                                            for line in sorted(set(found) | set(expected))
                                            if found.get(line) != expected.get(line)])
            compared += len(found)
            # A trace function of the program sees of the copy what it sees of the code.
            seen = []
            table = recorded(lambda: seen.extend(traced(work, module.__file__)), work.__name__)
            check(seen == events, name, "events of a trace function",
                  [pair for pair in zip(seen, events) if pair[0] != pair[1]][:5], len(seen), len(events))
            check(hits_of(table, module.__file__) == expected, name, "lines beside a trace function")
    check(compared > 300, compared)


# ---- Nothing but probes -------------------------------------------------------------------------

Instruction = collections.namedtuple("Instruction", "start unit end opcode argument target positions")


def instructions_of(code):
    out = []
    data, positions = code.co_code, list(code.co_positions())
    at, count = 0, len(data) // 2
    while at < count:
        start, argument = at, 0
        while data[2 * at] == OPCODES["EXTENDED_ARG"]:
            argument = (argument | data[2 * at + 1]) << 8
            at += 1
        operation, unit = data[2 * at], at
        argument |= data[2 * at + 1]
        at += 1
        while at < count and data[2 * at] == OPCODES["CACHE"]:
            at += 1
        check(len(set(positions[start:at])) == 1, "positions inside of an instruction")
        target = None
        if operation in opcode.hasjrel:
            target = unit + 1 + (-argument if "BACKWARD" in opcode.opname[operation] else argument)
        out.append(Instruction(start, unit, at, operation, argument, target, positions[unit]))
    return out


def handlers_of(code):
    """Of each unit: where an exception goes, and with what depth."""
    out = {}
    numbers = []
    for byte in code.co_exceptiontable:
        if byte & 128:
            numbers.append([])
        numbers[-1].append(byte)
    for entry in numbers:
        values, value = [], 0
        for byte in entry:
            value = value << 6 | byte & 63
            if not byte & 64:
                values.append(value)
                value = 0
        begin, length, target, depth = values
        for unit in range(begin, begin + length):
            check(unit not in out, "exception table")
            out[unit] = (target, depth)
    return out


def split(copy, own_constants):
    """The instructions of the code in a copy, and of each unit that may be jumped to the one that comes there."""
    kept, target_of, waiting = [], {}, []
    instructions = instructions_of(copy)
    names = [opcode.opname[instruction.opcode] for instruction in instructions]
    at = 0

    def is_probe(index):
        return names[index] == "LOAD_CONST" and instructions[index].argument >= own_constants

    while at < len(instructions):
        size = 0
        if is_probe(at):
            check(names[at + 1] == "POP_JUMP_FORWARD_IF_FALSE" and instructions[at + 1].argument == 0, "probe", names[at:at + 3])
            size = 2
        elif names[at] == "COPY" and is_probe(at + 1) and names[at + 2:at + 4] == ["CONTAINS_OP", "POP_TOP"]:
            size = 4
        elif names[at] == "JUMP_FORWARD" and at + 3 < len(instructions) and is_probe(at + 1) \
                and instructions[at].target == instructions[at + 3].start:
            # A jump over a probe, unless the code itself jumps to the next instruction; then it is told by its line.
            if instructions[at].positions == instructions[at - 1].positions and at and names[at - 1] != "JUMP_FORWARD":
                at += 1
                continue
        if size:
            waiting.append(instructions[at].start)
            at += size
            continue
        for unit in waiting + [instructions[at].start]:
            target_of[unit] = len(kept)
        waiting = []
        kept.append(instructions[at])
        at += 1
    return kept, target_of


SAME = ("co_name co_qualname co_filename co_firstlineno co_flags co_argcount co_posonlyargcount co_kwonlyargcount co_nlocals "
        "co_varnames co_names co_freevars co_cellvars").split()


def check_copy(code):
    copy = _agent.line_code(code)
    name = "%s:%d %s" % (code.co_filename, code.co_firstlineno, code.co_qualname)
    check(copy is not None, name, "has no copy")
    check(_agent.line_code(code) is copy, name, "has another copy")
    check(all(getattr(code, field) == getattr(copy, field) for field in SAME), name, "fields")
    own = len(code.co_consts)
    check(all(a is b for a, b in zip(code.co_consts, copy.co_consts)), name, "constants")
    before = instructions_of(code)
    after, target_of = split(copy, own)
    check(len(before) == len(after), name, "instructions", len(before), len(after))
    index_of = {instruction.start: index for index, instruction in enumerate(before)}
    handlers_before, handlers_after = handlers_of(code), handlers_of(copy)
    for old, new in zip(before, after):
        check(old.opcode == new.opcode and old.positions == new.positions, name, "instruction", old, new)
        check(old.end - old.unit == new.end - new.unit, name, "caches")
        if old.target is None:
            check(old.argument == new.argument, name, "argument", old, new)
        else:
            check(index_of[old.target] == target_of[new.target], name, "jump", old, new)
        for one, other in ((old.start, new.start), (old.unit, new.unit), (old.end - 1, new.end - 1)):
            one, other = handlers_before.get(one), handlers_after.get(other)
            check((one is None) == (other is None), name, "range of a handler", old)
            check(one is None or (index_of[one[0]] == target_of[other[0]] and one[1] == other[1]), name, "handler", old)
    return sum(1 for constant in code.co_consts if isinstance(constant, types.CodeType))


def all_code(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_code(constant)


def nothing_but_probes():
    library = os.path.dirname(os.__file__)
    files = [PROGRAMS + "/*.py", HERE + "/*.py"] + [library + "/" + name for name in (
        "[b-d]*.py", "asyncio/*.py", "json/*.py", "concurrent/futures/*.py", "multiprocessing/*.py")]
    count = 0
    _agent.start(os.path.join(SCRATCH, "copies"))
    for path in sorted(path for pattern in files for path in glob.glob(pattern)):
        with open(path, "rb") as file:
            text = file.read()
        try:
            module = compile(text, path, "exec", dont_inherit=True)
        except SyntaxError:
            continue
        for code in all_code(module):
            check_copy(code)
            count += 1
    _agent.stop()
    check(count > 2000, "code objects:", count)


# ---- Code that can have no copy -----------------------------------------------------------------


def unusual_code():
    """Lines in the middle of a call, where nothing can be inserted: PRECALL and CALL have lines of their own."""
    def function(n):
        total = 0
        for i in range(n):
            total = abs(i)
        return total

    code = function.__code__
    table = bytearray()
    line = code.co_firstlineno
    for instruction in instructions_of(code):
        wanted = instruction.positions[0] + (100 if opcode.opname[instruction.opcode] == "CALL" else 0)
        units = instruction.end - instruction.start
        while units:
            part = min(units, 8)
            delta = (wanted - line) * 2 if wanted >= line else (line - wanted) * 2 + 1
            line = wanted
            table.append(0x80 | 13 << 3 | part - 1)
            while delta >= 64:
                table.append(delta & 63 | 64)
                delta >>= 6
            table.append(delta)
            units -= part
    function.__code__ = code.replace(co_linetable=bytes(table), co_filename=os.path.join(PROGRAMS, "unusual.py"))
    return function


def code_without_a_copy_is_traced():
    function = unusual_code()
    file = function.__code__.co_filename

    def work():
        for _ in range(3):
            function(5)
            constructs.loops()

    expected = collections.Counter(line for event, _, line in traced(work, file) if event == "line")
    table = recorded(work, "unusual")
    check(len(expected) == 6 and hits_of(table, file) == expected, hits_of(table, file), expected)
    check(table.properties["python.lines.traced"] == "1 code object was recorded by a trace function", table.properties)
    # What it calls is not traced, and nothing is when it is left.
    check(sys.gettrace() is None, "trace function")
    loops = collections.Counter(line for event, _, line in traced(work, constructs.__file__) if event == "line")
    check(hits_of(table, constructs.__file__) == loops, "lines beside traced code")


# ---- Life of copies -----------------------------------------------------------------------------


def copies_die_with_their_code():
    _agent.start(os.path.join(SCRATCH, "life"))
    _agent.start_lines([PROGRAMS], [])
    gone = []

    def one(i):
        scope = {}
        text = "def made(n):\n  for k in range(n):\n    n += k\n  return n\ndef makes():\n  yield made(%d)\n" % i
        exec(compile(text, os.path.join(PROGRAMS, "made.py"), "exec"), scope)
        check(list(scope["makes"]()) == [sum(range(i)) + i], "value")
        if i % 100 == 0:
            copy = _agent.line_code(scope["made"].__code__)
            gone.extend([weakref.ref(copy), weakref.ref(scope["made"].__code__)])

    def blocks(rounds):
        for i in range(rounds):
            one(i % 400)
        gc.collect()
        return sys.getallocatedblocks()

    blocks(800)
    before = blocks(400)
    after = blocks(1200)
    check(after - before < 300, "blocks of memory", before, after)
    check(gone and all(reference() is None for reference in gone), "code objects that stay")
    # A frame goes on when its code is gone.
    generator = constructs.generator_with_full_stack(3)
    scope = {}
    exec(compile("def f():\n  yield 1\n  yield 2\n  return 3\n", os.path.join(PROGRAMS, "made.py"), "exec"), scope)
    orphan = scope["f"]()
    next(orphan)
    scope["f"].__code__ = (lambda: None).__code__
    del scope
    gc.collect()
    check(list(orphan) == [2] and list(generator) == [1, 2, 3], "frames without their code")
    _agent.stop()


def recordings_come_and_go():
    """Frames with probes that are at work while recordings end and begin."""
    def count(generator, times):
        return [next(generator) for _ in range(times)]

    def lines(table):
        file = constructs.__file__
        return sum(hits for line, hits in hits_of(table, file).items())

    before = constructs.catches()
    next(before)
    during = []

    def first():
        count(before, 2)
        during.append(constructs.catches())
        count(during[0], 2)

    def second():
        count(during[0], 1)

    tables_of = [recorded(first, "first"), recorded(second, "second"), recorded(second, "third", include=["/nowhere"])]
    # The end of one turn of the loop and the beginning of the next: finally, for, try and yield.
    check([lines(table) for table in tables_of] == [2 * 4 + 3 + 4, 4, 0], [lines(table) for table in tables_of])
    check(sys.gettrace() is None, "trace function")


def starts_in_the_middle():
    path = os.path.join(PROGRAMS, "middle.py")
    scope = {"begin": lambda: _agent.start_lines([PROGRAMS], []), "end": _agent.stop_lines}
    text = """
def inner(n):
    for i in range(n): n += 1
    return n
def outer():
    begin()
    inner(3)
    inner(2)
    try: {}[1]
    except KeyError: inner(1)
    end()
    inner(9)
outer()
inner(5)
"""
    for hook in ("", "trace"):
        os.environ["SONDE_PYTHON_LINES"] = hook
        first = _agent.start(os.path.join(SCRATCH, "middle" + hook))
        exec(compile(text, path, "exec"), scope)
        _agent.stop()
        table = tables.Tables(first.replace(".sonde", ".tables"))
        found = hits_of(table, path)
        check(found == {7: 1, 8: 1, 9: 1, 10: 1, 11: 1, 3: 9, 4: 3}, hook, found)
        check(("trace function" == table.properties["python.lines.hook"]) == (hook == "trace"), table.properties)
        check(sys.gettrace() is None, "trace function")
    del os.environ["SONDE_PYTHON_LINES"]


DEEP = """
import sys, threading
sys.setrecursionlimit(200000)
def down(n):
    if n == 0:
        return 0
    return 1 + down(n - 1)
def walk():
    for _ in range(2):
        print(down(50000))
walk()
threading.stack_size(1 << 20)
thread = threading.Thread(target=walk)
thread.start()
thread.join()
print(down(10))
"""


def deep_recursion():
    script = os.path.join(SCRATCH, "deep.py")
    with open(script, "w") as file:
        file.write(DEEP)
    program = """
import sys, runpy
sys.path[:0] = [%r, %r]
from sonde import _agent
path = _agent.start(%r)
_agent.start_lines([%r], [])
runpy.run_path(%r)
assert sys.gettrace() is None
_agent.stop()
print(path.replace(".sonde", ".tables"))
""" % (PACKAGE, SUPPORT, os.path.join(SCRATCH, "deep"), SCRATCH, script)
    result = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    check(result.returncode == 0, result.returncode, result.stdout, result.stderr)
    words = result.stdout.split()
    check(words[:-1] == ["50000"] * 4 + ["10"], words)
    found = hits_of(tables.Tables(words[-1]), script)
    check(found[5] == 4 * 50001 + 11 and found[6] == 5 and found[7] == 4 * 50000 + 10, found)
    check(found[9] == 6 and found[10] == 4, found)


def threads_and_forks():
    def work():
        threads = [threading.Thread(target=constructs.loops) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        child = os.fork()
        if child == 0:
            constructs.loops()
            _agent.stop()
            os._exit(0)
        os.waitpid(child, 0)

    expected = collections.Counter(line for event, _, line in traced(constructs.loops, constructs.__file__) if event == "line")
    folder = os.path.join(SCRATCH, "threads")
    table = recorded(work, "threads")
    check(hits_of(table, constructs.__file__) == {line: 8 * hits for line, hits in expected.items()}, "threads")
    others = [other for other in tables.read_run(folder).values() if other.pid != os.getpid()]
    check(len(others) == 1 and hits_of(others[0], constructs.__file__) == expected, "fork")


def what_the_program_sees():
    code = constructs.scopes.__code__
    text, constants = code.co_code, code.co_consts

    def work():
        constructs.scopes()
        try:
            constructs.finally_copies("x")
        except TypeError as error:
            place = error.__traceback__.tb_next
            check(place.tb_lineno == place.tb_frame.f_lineno, "line of the traceback")
            check(list(place.tb_frame.f_code.co_positions())[place.tb_lasti // 2][0] == place.tb_lineno, "positions")

    def raises(frame, event, argument):
        if event == "line" and frame.f_code.co_name == "catches_all" and frame.f_lineno == first + 2:
            raise OSError
        return raises

    def catches_all():
        try:
            code.co_name
        except OSError:
            return "caught"

    first = catches_all.__code__.co_firstlineno
    answers = []

    def trace():
        sys.settrace(raises)
        answers.append(catches_all())
        sys.settrace(None)

    recorded(work, "sees")
    table = recorded(trace, "raises", include=[HERE])
    check(answers == ["caught"] and hits_of(table, os.path.abspath(__file__))[first + 4] == 1, "a trace function that raises")
    check(constructs.scopes.__code__ is code and code.co_code == text and code.co_consts is constants, "the code has changed")


for test in (same_lines_as_a_trace_function, nothing_but_probes, code_without_a_copy_is_traced, copies_die_with_their_code,
             recordings_come_and_go, starts_in_the_middle, deep_recursion, threads_and_forks, what_the_program_sees):
    test()
print("right")
