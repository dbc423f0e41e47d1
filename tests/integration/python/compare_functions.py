"""Records each workload with Sonde and with cProfile in this interpreter, and compares them.

    compare_functions.py PACKAGE_FOLDER TESTS_SUPPORT_FOLDER SCRATCH_FOLDER
"""

import cProfile
import collections
import os
import sys

sys.path[:0] = [sys.argv[1], sys.argv[2], os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")]
import tables  # noqa: E402
import workloads  # noqa: E402
from sonde import _agent  # noqa: E402


KINDS = ("calls", "recursive calls", "calls by caller", "recursive calls by caller")


def with_sonde(workload, folder):
    path = _agent.start(folder)
    _agent.start_functions()
    workload()
    _agent.stop_functions()
    _agent.stop()
    return tables.Tables(path.replace(".sonde", ".tables"))


def with_cprofile(workload):
    profile = cProfile.Profile()
    profile.enable()
    workload()
    profile.disable()
    return profile.getstats()


def label(code):
    return ("~", 0, code) if isinstance(code, str) else (code.co_filename, code.co_firstlineno, code.co_name)


def without_own(counts):
    """Without zeros, and without the calls by which the two are turned off."""
    return {key: count for key, count in counts.items()
            if count and "stop_functions" not in str(key) and "_lsprof.Profiler" not in str(key)}


def counts_of_cprofile(stats):
    functions = collections.Counter()
    recursive = collections.Counter()
    calls = collections.Counter()
    recursive_calls = collections.Counter()
    for entry in stats:
        functions[label(entry.code)] += entry.callcount
        recursive[label(entry.code)] += entry.reccallcount
        for call in entry.calls or ():
            pair = (label(entry.code), label(call.code))
            calls[pair] += call.callcount
            recursive_calls[pair] += call.reccallcount
    return list(map(without_own, (functions, recursive, calls, recursive_calls)))


def counts_of_sonde(recorded):
    functions = recorded.functions()
    calls = {pair: sums for pair, sums in recorded.calls().items() if pair[0] is not None}
    out = [{k: v[0] for k, v in functions.items()}, {k: v[1] for k, v in functions.items()},
           {k: v[0] for k, v in calls.items()}, {k: v[1] for k, v in calls.items()}]
    return list(map(without_own, out))


def differences(name, kinds, ours, theirs):
    out = []
    for kind, mine, other in zip(kinds, ours, theirs):
        for key in sorted(set(mine) | set(other), key=str):
            if mine.get(key) != other.get(key):
                out.append("%s: %s of %s: %s, cProfile %s" % (name, kind, key, mine.get(key), other.get(key)))
    return out


def compare_threads(folder):
    """What threads did, against cProfile in this thread for the same work."""
    recorded = with_sonde(workloads.threads, folder)
    ours = []
    for counts in counts_of_sonde(recorded):
        ours.append({key: count for key, count in counts.items() if in_thread(key)})
    theirs = [collections.Counter() for _ in range(4)]
    for n in (8, 9, 10):
        for counts, more in zip(theirs, counts_of_cprofile(with_cprofile(lambda: workloads.in_thread([], n)))):
            counts.update({key: count for key, count in more.items() if in_thread(key)})
    return ours, list(map(dict, theirs))


def in_thread(key):
    """Functions of a thread, and calls from them."""
    label = key if isinstance(key[0], str) else key[0]
    return label[2] in ("in_thread", "fibonacci")


def main():
    wrong = []
    compared = 0
    ours, theirs = compare_threads(os.path.join(sys.argv[3], "threads"))
    compared += sum(map(len, theirs))
    wrong += differences("threads", KINDS, ours, theirs)
    for workload in workloads.SINGLE:
        workload()  # caches fill up: both see the same
        recorded = with_sonde(workload, os.path.join(sys.argv[3], workload.__name__))
        workload()
        theirs = counts_of_cprofile(with_cprofile(workload))
        ours = counts_of_sonde(recorded)
        compared += sum(map(len, theirs))
        wrong += differences(workload.__name__, KINDS, ours, theirs)
        functions = recorded.functions()
        outermost = sum(sums[3] for (caller, _), sums in recorded.calls().items() if caller is None)
        self_sum = sum(sums[2] for sums in functions.values())
        if self_sum != outermost:
            wrong.append("%s: self times %d, outermost calls %d" % (workload.__name__, self_sum, outermost))
        if recorded.open_calls():
            wrong.append("%s: open calls are left" % workload.__name__)
    print("\n".join(wrong) or "equal: %d numbers" % compared)
    return 1 if wrong else 0


sys.exit(main())
