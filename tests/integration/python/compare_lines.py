"""Records the lines of each workload with Sonde, with a plain trace function and, where it is installed, with
line_profiler, and compares the hits.

    compare_lines.py PACKAGE_FOLDER TESTS_SUPPORT_FOLDER SCRATCH_FOLDER
"""

import collections
import inspect
import os
import sys
import threading
import types

sys.path[:0] = [sys.argv[1], sys.argv[2], os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")]
import tables  # noqa: E402
import workloads  # noqa: E402
from sonde import _agent  # noqa: E402

try:
    import line_profiler
except ImportError:
    line_profiler = None

FILE = workloads.__file__


def with_sonde(workload, folder):
    path = _agent.start(folder)
    _agent.start_lines([os.path.dirname(FILE)], [])
    workload()
    _agent.stop_lines()
    _agent.stop()
    return tables.Tables(path.replace(".sonde", ".tables"))


def with_trace_function(workload):
    """Hits of each line, and how often each line came after it in the same code."""
    hits = collections.Counter()
    next_lines = collections.defaultdict(collections.Counter)
    last = {}
    functions = functions_of_module()

    def trace(frame, event, argument):
        code = frame.f_code
        if code.co_filename == FILE and event in ("line", "return"):
            before = last.pop((threading.get_ident(), code), None)
            if before and code in functions:
                next_lines[FILE, before][frame.f_lineno] += 1
            if event == "line":
                hits[FILE, frame.f_lineno] += 1
                last[threading.get_ident(), code] = frame.f_lineno
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    workload()
    sys.settrace(None)
    threading.settrace(None)
    return dict(hits), next_lines


def functions_of_module():
    """What line_profiler can be told to profile: functions, not the code inside of them."""
    out = {}
    for value in list(vars(workloads).values()):
        value = getattr(value, "__wrapped__", value)
        for member in [value] + (list(vars(value).values()) if inspect.isclass(value) else []):
            member = getattr(member, "fget", getattr(member, "__func__", member))
            if isinstance(member, types.FunctionType) and member.__code__.co_filename == FILE:
                out[member.__code__] = member
    return out


def with_line_profiler(workload):
    functions = functions_of_module()
    profiler = line_profiler.LineProfiler(*functions.values())
    profiler.enable_by_count()
    workload()
    profiler.disable_by_count()
    hits = collections.Counter()
    for (file, first, name), timings in profiler.get_stats().timings.items():
        for line, count, _ in timings:
            hits[file, line] += count
    first_lines = {code.co_firstlineno for code in functions}
    return dict(hits), first_lines


def differences(name, other, ours, theirs):
    return ["%s: line %s: %s hits, %s %s" % (name, key[1], ours.get(key), other, theirs.get(key))
            for key in sorted(set(ours) | set(theirs)) if ours.get(key) != theirs.get(key)]


def main():
    wrong = []
    compared = 0
    with_profiler = 0
    explained = 0
    for workload in workloads.SINGLE + [workloads.threads]:
        workload()
        recorded = with_sonde(workload, os.path.join(sys.argv[3], workload.__name__))
        ours = {key: hits for key, (hits, _) in recorded.lines().items()}
        plain, next_lines = with_trace_function(workload)
        compared += len(plain)
        wrong += differences(workload.__name__, "trace function", ours, plain)
        if line_profiler and workload is not workloads.threads:
            theirs, first_lines = with_line_profiler(workload)
            # Code inside of functions is none of line_profiler's.
            mine = collections.Counter()
            for row in recorded.rows["Line"]:
                if recorded.codes[row.code].first_line in first_lines and row.hits:
                    mine[FILE, row.line] += row.hits
            with_profiler += len(theirs)
            # line_profiler 4.0 counts a line apart for each line that comes after it, and tells the largest of these numbers.
            for key in theirs:
                if theirs[key] != mine[key] and theirs[key] == max(next_lines[key].values(), default=0):
                    explained += 1
                    mine[key] = theirs[key]
            wrong += differences(workload.__name__, "line_profiler", dict(mine), theirs)
    print("\n".join(wrong) or "equal: %d lines, %d of line_profiler, %d of them as it merges them" %
          (compared, with_profiler, explained))
    return 1 if wrong else 0


sys.exit(main())
