"""One scenario of recording a Python program with `sonde run`, in the interpreter that runs this.

    scenarios.py SCENARIO SONDE PACKAGE_FOLDER TESTS_SUPPORT_FOLDER SCRATCH_FOLDER
"""

import collections
import json
import os
import shutil
import signal
import subprocess
import sys

SCENARIO, SONDE, PACKAGE, SUPPORT, SCRATCH = sys.argv[1:6]
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
RUN = os.path.join(SCRATCH, "run")
PYTHON = sys.executable
MONITORING = sys.version_info >= (3, 12)
sys.path.insert(0, SUPPORT)
import tables  # noqa: E402


def check(condition, *what):
    if not condition:
        raise SystemExit("wrong: " + " ".join(map(str, what)))


def execute(command, environment=None):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=SCRATCH,
                          env=dict(os.environ, **(environment or {})), universal_newlines=True)


def record(arguments, options=("--python", "function,line"), environment=None, quiet=True):
    shutil.rmtree(RUN, ignore_errors=True)
    return execute([SONDE, "run", *(["-q"] if quiet else []), *options, "-o", RUN, "--", *arguments], environment)


def program(text, name="program.py"):
    path = os.path.join(SCRATCH, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def recorded(count=1):
    found = list(tables.read_run(RUN).values())
    check(len(found) == count, "processes:", len(found), "not", count)
    return found[0] if count == 1 else found


def calls(table, ending=".py"):
    """Name -> calls, of the functions in files of that ending."""
    out = collections.Counter()
    for (file, _, name), sums in table.functions().items():
        if file.endswith(ending):
            out[name] += sums[0]
    return out


def output_is_unchanged():
    script = os.path.join(PROGRAMS, "everything.py")
    plain = execute([PYTHON, script, "an", "argument"])
    for options in (("--python", "function"), ("--python", "line"), ("--python", "function,line", "--timeline")):
        result = record([PYTHON, script, "an", "argument"], options)
        check(result.returncode == plain.returncode == 7, options, "exit code", result.returncode, result.stderr)
        check(result.stdout == plain.stdout, options, "output", result.stdout, plain.stdout)
        check(result.stderr == plain.stderr, options, "errors", result.stderr)


def children_are_recorded():
    record([PYTHON, os.path.join(PROGRAMS, "everything.py")])
    found = tables.read_run(RUN).values()
    by_function = collections.Counter()
    for table in found:
        names = calls(table, "everything.py") + calls(table, "<string>")
        for name in ("main", "child", "in_fork", "in_subprocess"):
            by_function[name] += 1 if names[name] else 0
        if names["child"]:
            check(names["work"] == 1 and names["<genexpr>"] == 31, "child:", names)
            work_line = [hits for (file, line), (hits, _) in table.lines().items() if file.endswith("everything.py")]
            check(work_line, "the lines of a child are missing")
        if names["in_fork"]:
            check(names["work"] == 1 and names["<genexpr>"] == 21, "fork:", names)
            check(not table.open_calls(), "os._exit left open calls")
        check(table.properties["python.version"] == sys.version, "version", table.properties)
    check(by_function == {"main": 1, "child": 3, "in_fork": 1, "in_subprocess": 1}, dict(by_function))
    main = [table for table in found if calls(table, "everything.py")["main"]][0]
    check(main.clean_end == 1, "no clean end")
    check(calls(main, "everything.py")["in_thread"] == 3, "threads", calls(main))
    workers = {name for name in main.thread_names.values() if name.startswith("worker")}
    check(workers == {"worker 0", "worker 1", "worker 2"}, main.thread_names)


def killed_process_keeps_its_data():
    script = program("""
import os, signal
def inner(n):
    if n: return inner(n - 1)
    for i in range(100): leaf(i)
    os.kill(os.getpid(), signal.SIGKILL)
def leaf(i):
    return i
def outer():
    inner(3)
outer()
""")
    result = record([PYTHON, script])
    check(result.returncode == 128 + signal.SIGKILL, "exit code", result.returncode)
    table = recorded()
    check(table.clean_end == 0, "a clean end")
    check(calls(table, "program.py")["leaf"] == 100, "leaf", calls(table))
    stack = [table.label(row.callee)[2] for row in table.open_calls()]
    check(stack == ["<module>", "outer", "inner", "inner", "inner", "inner", "<built-in method posix.kill>"], stack)
    starts = [row.start_ticks for row in table.open_calls()]
    check(starts == sorted(starts), "starts", starts)
    hits = {line: hits for (file, line), (hits, _) in table.lines().items() if file == script}
    check(hits[8] == 100 and hits[6] == 1, "hits", hits)


def interrupt_is_an_orderly_end():
    script = program("import os, signal\ndef f():\n  os.kill(os.getpid(), signal.SIGINT)\n  while True: pass\nf()\n")
    result = record([PYTHON, script])
    check(result.returncode == 128 + signal.SIGINT and "KeyboardInterrupt" in result.stderr, result)
    table = recorded()
    check(table.clean_end == 1 and calls(table, "program.py")["f"] == 1, table.clean_end, calls(table))


def own_profile_function():
    script = program("""
import sys
def before(): pass
def after(): pass
def between(): pass
before()
seen = []
sys.setprofile(lambda frame, event, argument: seen.append(event))
sys.settrace(lambda frame, event, argument: None)
between()
sys.setprofile(None)
sys.settrace(None)
after()
print(seen.count("call"))
""")
    result = record([PYTHON, script])
    check(result.returncode == 0 and result.stdout == "1\n", result)
    table = recorded()
    names = calls(table, "program.py")
    check(names["before"] == 1, names)
    if MONITORING:
        check(names["between"] == 1 and names["after"] == 1, names)
        check("python.functions.interrupted" not in table.properties, table.properties)
    else:
        check(names["between"] == 0 and names["<module>"] == 1, names)
        check("recording interrupted" in table.properties["python.functions.interrupted"], table.properties)
    if MONITORING or sys.version_info >= (3, 11):
        check("python.lines.interrupted" not in table.properties, table.properties)
        hits = {line: hits for (file, line), (hits, _) in table.lines().items() if file == script}
        check([hits.get(line) for line in (3, 4, 5, 13, 14)] == [2, 2, 2, 1, 1], hits)
    else:
        check("recording interrupted" in table.properties["python.lines.interrupted"], table.properties)


def modules_and_entry_points():
    os.makedirs(os.path.join(SCRATCH, "a_module"), exist_ok=True)
    program("", "a_module/__init__.py")
    program("import sys\ndef of_module(): return sys.argv[1:]\nprint(of_module())\n", "a_module/__main__.py")
    result = record([PYTHON, "-m", "a_module", "x"])
    check(result.stdout == "['x']\n" and calls(recorded(), "__main__.py")["of_module"] == 1, result)
    entry = program("#!%s\nimport a_module\ndef of_entry(): return 4\nsys_exit = of_entry()\nraise SystemExit(sys_exit)\n"
                    % PYTHON, "entry")
    os.chmod(entry, 0o755)
    result = record(["./entry"])
    check(result.returncode == 4 and calls(recorded(), "entry")["of_entry"] == 1, result)
    result = record([PYTHON, "-c", "def of_text(): pass\nof_text()"])
    check(calls(recorded(), "<string>")["of_text"] == 1, result)
    check(not recorded().lines(), "lines of a text", recorded().lines())
    result = record([PYTHON, "-I", "-c", "pass"], quiet=False)
    check("no Python process was recorded" in result.stderr, result.stderr)


def own_sitecustomize():
    folder = os.path.join(SCRATCH, "site")
    os.makedirs(folder, exist_ok=True)
    program("import sys\nsys.of_user = 5\n", "site/sitecustomize.py")
    script = program("import sys, sitecustomize\nprint(sys.of_user, sitecustomize.__file__, sys.path)\n")
    plain = execute([PYTHON, script], {"PYTHONPATH": folder})
    result = record([PYTHON, script], environment={"PYTHONPATH": folder})
    check(plain.returncode == 0 and result.stdout == plain.stdout, result, plain)


def no_agent_for_this_interpreter():
    inject = os.path.join(SCRATCH, "other", "inject")
    shutil.copytree(os.path.join(PACKAGE, "inject"), inject)
    os.makedirs(os.path.join(SCRATCH, "notes_run"))
    result = execute([PYTHON, "-c", "print(1)"], {"PYTHONPATH": inject, "SONDE_PYTHON": "function",
                                                  "SONDE_RUN_DIR": os.path.join(SCRATCH, "notes_run")})
    check(result.returncode == 0 and result.stdout == "1\n" and result.stderr == "", result)
    notes = os.listdir(os.path.join(SCRATCH, "notes_run", "notes"))
    with open(os.path.join(SCRATCH, "notes_run", "notes", notes[0])) as file:
        text = file.read()
    check("no agent for CPython %d.%d" % sys.version_info[:2] in text and text.count("\n") == 1, text)


def timeline_has_every_call():
    script = program("def leaf(x): return len(str(x))\ndef main():\n  for i in range(50): leaf(i)\nmain()\n")
    result = record([PYTHON, script], ("--python", "function", "--timeline"))
    check(result.returncode == 0, result)
    path = os.path.join(SCRATCH, "trace.json")
    result = execute([SONDE, "export", RUN, "--to", "chrome", "-o", path])
    check(result.returncode == 0, result.stderr)
    with open(path) as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    names = collections.Counter(event["name"] for event in events if event.get("ph") == "X")
    check(names["%s(1): leaf" % script] == 50, [item for item in names.items() if "leaf" in item[0]])
    check(names["<built-in method builtins.len>"] >= 50, "len")
    leaves = [event for event in events if event["name"] == "%s(1): leaf" % script]
    main = [event for event in events if event["name"] == "%s(2): main" % script]
    check(len(main) == 1 and all(main[0]["ts"] <= leaf["ts"] and
                                 leaf["ts"] + leaf["dur"] <= main[0]["ts"] + main[0]["dur"] for leaf in leaves), main)


def limits_and_changes():
    script = program("""
import sys
sys.path.insert(0, %r)
from sonde import _agent
def f(): pass
print(_agent.start(%r).replace(".sonde", ".tables"))
_agent.start_functions()
f()
_agent.stop_functions()
_agent.start_functions(timeline=True)
f(); f()
_agent.stop_functions()
_agent.start_functions()
f()
scope = {}
exec("".join("def g%%d(): pass\\ng%%d()\\n" %% (i, i) for i in range(30000)), scope)
_agent.stop()
""" % (PACKAGE, RUN))
    shutil.rmtree(RUN, ignore_errors=True)
    result = execute([PYTHON, script], {"SONDE_MAX_SIZE": "2M"})
    check(result.returncode == 0, result)
    table = tables.Tables(result.stdout.strip())
    check(calls(table, "program.py")["f"] == 4, calls(table, "program.py"))
    check(os.path.getsize(table.path) <= (2 << 20) + (64 << 10), "size", os.path.getsize(table.path))
    check(table.dropped_rows > 1000 and table.drop_reason == 0, "dropped", table.dropped_rows, table.drop_reason)
    path = os.path.join(SCRATCH, "trace.json")
    result = execute([SONDE, "export", table.path.replace(".tables", ".sonde"), "--to", "chrome", "-o", path])
    check(result.returncode == 0, result.stderr)
    with open(path) as file:
        check(file.read().count("%s(5): f" % script) == 2, "slices")


def times_agree_with_the_clock():
    script = program("""
import time
def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass
def sleeps():
    time.sleep(0.1)
def main():
    begin = time.perf_counter()
    busy(0.2)
    sleeps()
    busy(0.05)
    return time.perf_counter() - begin
print(main())
""")
    result = record([PYTHON, script])
    elapsed = float(result.stdout)
    table = recorded()
    second = tables.ticks_per_second(table.path.replace(".tables", ".sonde"))
    functions = {label[2]: sums for label, sums in table.functions().items() if label[0] == script}
    in_main = functions["main"][3] / second
    check(abs(in_main - elapsed) < 0.005 + 0.01 * elapsed, "main", in_main, elapsed)
    sleep = [sums for label, sums in table.functions().items() if "time.sleep" in label[2]][0]
    check(0.1 <= sleep[2] / second < 0.1 + (elapsed - 0.35) + 0.01, "sleep", sleep[2] / second)
    # Every moment of an outermost call is the self time of one function.
    self_sum = sum(sums[2] for sums in table.functions().values())
    outermost = sum(sums[3] for (caller, _), sums in table.calls().items() if caller is None)
    check(self_sum == outermost, "self", self_sum, "outermost", outermost)
    lines = {line: ticks / second for (file, line), (_, ticks) in table.lines().items() if file == script}
    check(abs(lines[10] - 0.2) < 0.01 + (elapsed - 0.35) and lines[11] >= 0.1, "lines", lines)
    check(abs(sum(lines[line] for line in range(9, 14)) - elapsed) < 0.005 + 0.02 * elapsed, "lines of main", lines)


def include_and_exclude():
    for folder in ("one", "two"):
        os.makedirs(os.path.join(SCRATCH, folder), exist_ok=True)
        program("def f():\n  return 1\n", folder + "/module_%s.py" % folder)
    script = program("import sys, json\nsys.path += ['one', 'two']\nimport module_one, module_two\n"
                     "module_one.f(); module_two.f(); json.dumps([1], indent=1)\n")
    script_name = os.path.basename(script)

    def files(*options):
        record([PYTHON, script], ("--python", "line") + options)
        return {os.path.basename(file) for file, _ in recorded().lines()}

    check(files() == {script_name, "module_one.py", "module_two.py"}, files())
    check(files("--exclude", "one") == {script_name, "module_two.py"}, files("--exclude", "one"))
    check(files("--include", "one") == {"module_one.py"}, files("--include", "one"))
    library = os.path.dirname(json.__file__)
    check("encoder.py" in files("--include", library), files("--include", library))
    # Also the whole library, which is left out otherwise.
    whole = files("--include", os.path.dirname(library))
    check("encoder.py" in whole and script_name not in whole, whole)
    result = record([PYTHON, script], ("--python", "line", "--include", "nowhere"))
    check(result.returncode == 2 and "nowhere" in result.stderr, result)


def starts_late_and_again():
    script = program("""
import sys, threading
sys.path.insert(0, %r)
from sonde import _agent
def f(n):
    return n and f(n - 1)
def deep(n):
    if n: return deep(n - 1)
    _agent.start_functions()
    f(4)
def in_thread(started, go):
    started.set()
    go.wait()
    f(2)
started, go = threading.Event(), threading.Event()
thread = threading.Thread(target=in_thread, args=(started, go))
thread.start()
started.wait()
path = _agent.start(%r)
deep(5)
go.set()
thread.join()
_agent.stop_functions()
f(100)
_agent.start_functions()
f(1)
_agent.stop()
print(path.replace(".sonde", ".tables"))
print(_agent.start(%r).replace(".sonde", ".tables"))
_agent.start_functions()
f(3)
_agent.stop()
""" % (PACKAGE, RUN, RUN))
    shutil.rmtree(RUN, ignore_errors=True)
    result = execute([PYTHON, script])
    check(result.returncode == 0, result)
    first, second = map(tables.Tables, result.stdout.split())
    check(calls(first, "program.py")["f"] == 5 + 3 + 2, calls(first, "program.py"))
    check(calls(second, "program.py")["f"] == 4, calls(second, "program.py"))
    check(calls(first, "program.py")["deep"] == 0, "a call that began before the recording")


def depth_breadth_and_short_lived_code():
    script = os.path.join(PROGRAMS, "stress.py")
    result = record([PYTHON, script])
    check(result.returncode == 0, result)
    table = recorded()
    names = calls(table, "stress.py")
    check(names["down"] == 8001 + 11 + 400 * 51, "down", names["down"])
    recursive = [sums[1] for label, sums in table.functions().items() if label[2] == "down"][0]
    check(recursive == 8000 + 10 + 400 * 50, "recursive", recursive)
    made = calls(table, "<string>")
    check(made["made"] == 3000 and made["<module>"] >= 3001, made["made"], made["<module>"])
    check(all(made["f%d" % i] == 2 for i in range(3000)), "wide")
    # Seven texts at most, whatever number of times they are compiled.
    check(1 <= sum(1 for row in table.rows["Code"] if table.texts[row.name] == "made") <= 7, "codes")
    hits = {line: hits for (file, line), (hits, _) in table.lines().items() if file == script}
    check(hits[9] == names["down"], "hits", hits[9])
    self_sum = sum(sums[2] for sums in table.functions().values())
    outermost = sum(sums[3] for (caller, _), sums in table.calls().items() if caller is None)
    check(self_sum == outermost, "self", self_sum, "outermost", outermost)


def threads_that_were_born_in_c():
    script = os.path.join(PROGRAMS, "born_in_c.py")
    result = record([PYTHON, script])
    check(result.returncode == 0, result)
    table = recorded()
    names = calls(table, "born_in_c.py")
    check(names["in_foreign_thread"] == 20 and names["leaf"] == 20, names)
    hits = {line: hits for (file, line), (hits, _) in table.lines().items() if file == script}
    check(hits[7] == 20 and hits[12] == 20, "hits", hits)


def places_are_exact():
    script = os.path.join(PROGRAMS, "places.py")
    shutil.rmtree(RUN, ignore_errors=True)
    os.makedirs(RUN)
    result = execute([PYTHON, "-W", "ignore", script, PACKAGE, SCRATCH], {"SONDE_RUN_DIR": RUN})
    check(result.returncode == 0, result)
    check(result.stderr == "", result.stderr)
    found = tables.read_run(RUN)
    check(len(found) == 2, "processes", len(found))
    for name in ("parent.json", "child.json"):
        with open(os.path.join(SCRATCH, name)) as file:
            said = json.load(file)
        numbers = {number for number, _ in said}
        check(0 not in numbers and len(said) >= (900 if name == "parent.json" else 5), name, len(said))
        # The parent has far more frames than its child.
        mine = sorted(found.values(), key=lambda table: -len(table.rows["Frame"]))[0 if name == "parent.json" else 1]
        check(mine.clean_end == 1, name, "clean end", mine.clean_end)
        frames = {row.id: row for row in mine.rows["Frame"]}
        for number, expected in said:
            there = []
            while number:
                row = frames[number]
                file, _, function = mine.label(row.code)
                there.append([file, row.line, function])
                number = row.caller
            check(there == expected[:512], "there", there[:4], "said", expected[:4])


def networks_by_their_calls():
    script = os.path.join(PROGRAMS, "networks.py")
    shutil.rmtree(RUN, ignore_errors=True)
    os.makedirs(RUN)
    result = execute([PYTHON, "-W", "ignore", script, PACKAGE], {"SONDE_RUN_DIR": RUN})
    check(result.returncode == 0 and result.stdout == "on\n" and result.stderr == "", result)
    with open(os.path.join(SCRATCH, "said.json")) as file:
        said = json.load(file)
    files = [os.path.join(RUN, name) for name in os.listdir(RUN) if name.endswith(".sonde")]
    report = execute([SONDE, "report", *files, "--view", "modules", "--format", "json", "--limit", "0"])
    there = {row["module"]: row["calls"] for row in json.loads(report.stdout)["modules"]}
    check(there == said, [(name, there.get(name), said.get(name)) for name in sorted(set(there) | set(said))
                          if there.get(name) != said.get(name)][:9])


SCENARIOS = [networks_by_their_calls, places_are_exact, limits_and_changes, threads_that_were_born_in_c, depth_breadth_and_short_lived_code, output_is_unchanged, children_are_recorded, killed_process_keeps_its_data, interrupt_is_an_orderly_end,
             own_profile_function, modules_and_entry_points, own_sitecustomize, no_agent_for_this_interpreter,
             timeline_has_every_call, times_agree_with_the_clock, include_and_exclude, starts_late_and_again]

if SCENARIO == "list":
    print(*(scenario.__name__ for scenario in SCENARIOS))
else:
    {scenario.__name__: scenario for scenario in SCENARIOS}[SCENARIO]()
    print("right")
