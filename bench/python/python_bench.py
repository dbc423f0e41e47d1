"""What recording a Python program costs, beside other profilers in the same run.

    python_bench.py PACKAGE_FOLDER INTERPRETER...

For each interpreter and program: the CPU time of the work in a process of its own, all modes in turn, the best of several
turns; then how many times as long as without a profiler. Start, import and report are left out.
"""

import os
import subprocess
import sys
import tempfile

TURNS = int(os.environ.get("SONDE_BENCH_TURNS", "7"))
PROGRAMS = ["call_heavy", "typical"]
MODES = ["none", "cProfile", "sonde function", "sonde timeline", "line_profiler", "sonde line"]
# Mode, what it is compared with, how many times the slowdown of that it may have.
GOALS = [("sonde function", "cProfile", 1.0), ("sonde line", "line_profiler", 0.4)]


def start_sonde(package, start):
    sys.path.insert(0, package)
    from sonde import _agent

    with tempfile.TemporaryDirectory(prefix="sonde-bench-") as folder:
        _agent.start(folder)
        start(_agent)
        yield
        _agent.stop()


def profiler(mode, package, programs):
    """A generator that turns the profiler on, and off when it is resumed."""
    if mode == "cProfile":
        import cProfile

        profile = cProfile.Profile()
        profile.enable()
        yield
        profile.disable()
    elif mode == "line_profiler":
        import line_profiler

        profile = line_profiler.LineProfiler(*programs.FUNCTIONS)
        profile.enable_by_count()
        yield
        profile.disable_by_count()
    elif mode == "sonde function":
        yield from start_sonde(package, lambda agent: agent.start_functions())
    elif mode == "sonde timeline":
        yield from start_sonde(package, lambda agent: agent.start_functions(timeline=True))
    elif mode == "sonde line":
        folder = os.path.dirname(os.path.abspath(programs.__file__))
        yield from start_sonde(package, lambda agent: agent.start_lines([folder], []))
    else:
        yield


def child(package, mode, name):
    import programs

    running = profiler(mode, package, programs)
    next(running)
    seconds = programs.timed(getattr(programs, name))
    next(running, None)
    print(seconds)


def measure(interpreter, package, mode, name):
    result = subprocess.run([interpreter, os.path.abspath(__file__), "--child", package, mode, name],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return float(result.stdout) if result.returncode == 0 else None


def bench(interpreter, package, name):
    best = {}
    for _ in range(TURNS):
        for mode in MODES:
            seconds = measure(interpreter, package, mode, name)
            if seconds is not None:
                best[mode] = min(seconds, best.get(mode, seconds))
    print("  %-11s" % name, end="")
    for mode in MODES:
        if mode == "none":
            print("  %.3f s" % best["none"], end="")
        elif mode in best:
            print("  %s %.2fx" % (mode, best[mode] / best["none"]), end="")
        else:
            print("  %s -" % mode, end="")
    print()
    for mode, other, goal in GOALS:
        if mode in best and other in best:
            ratio = best[mode] / best[other]
            print("  %11s  %s: %.2f times the slowdown of %s (goal: %.1f)%s; of what it adds %.2f times" %
                  ("", mode, ratio, other, goal, "" if ratio <= goal else " MISSED",
                   (best[mode] - best["none"]) / (best[other] - best["none"])))


def main(package, interpreters):
    for interpreter in interpreters:
        version = subprocess.run([interpreter, "-V"], stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
        print("%s (%s), best of %d" % (version, interpreter, TURNS))
        for name in PROGRAMS:
            bench(interpreter, package, name)
            sys.stdout.flush()


if sys.argv[1] == "--child":
    child(*sys.argv[2:5])
else:
    main(sys.argv[1], sys.argv[2:])
