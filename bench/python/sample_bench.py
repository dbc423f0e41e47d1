"""What looking into a Python program from outside costs the program.

    sample_bench.py SONDE PYTHON

A program does the same small work over and over and notes how long each round took. Meanwhile Sonde looks, and does not, for a
second each in turns: attached and let go, or, as `sonde run`, stopped and continued by signals. So the speed of the machine,
which changes over seconds, meets both alike. What counts is the middle three fifths of the rounds of each kind.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TURNS = int(os.environ.get("SONDE_BENCH_TURNS", "14"))
SECONDS = 1.0
# After a switch: until a sampler has begun, or ended.
MARGIN = 0.25

WORKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import programs
work = getattr(programs, sys.argv[2] + "_piece")
end = time.monotonic() + float(sys.argv[3])
rows = []
while True:
    begin, cpu = time.monotonic(), time.process_time_ns()
    if begin > end:
        break
    work()
    rows.append((begin, time.monotonic(), time.process_time_ns() - cpu))
with open(sys.argv[4], "w") as file:
    for row in rows:
        file.write("%.6f %.6f %d\\n" % row)
"""


def middle(values):
    values = sorted(values)
    fifth = len(values) // 5
    return statistics.mean(values[fifth:len(values) - fifth])


def compare(path, on, off):
    """The times of rounds while Sonde looked, over those of the others: CPU and wall."""
    with open(path) as file:
        rows = [tuple(float(word) for word in line.split()) for line in file]
    kinds = []
    for windows in (on, off):
        inside = [row for row in rows if any(begin <= row[0] and row[1] <= end for begin, end in windows)]
        kinds.append(inside)
    if min(len(inside) for inside in kinds) < 10:
        raise SystemExit("too few rounds")
    cpu = [middle([row[2] for row in inside]) for inside in kinds]
    wall = [middle([row[1] - row[0] for row in inside]) for inside in kinds]
    return cpu[0] / cpu[1], wall[0] / wall[1]


def worker(python, program, script, rows):
    return [python, script, HERE, program, str(2 * TURNS * SECONDS + 1.5), rows]


def attached(sonde, python, program, folder, script):
    rows = os.path.join(folder, "rows")
    target = subprocess.Popen(worker(python, program, script, rows))
    time.sleep(0.5)
    on, off = [], []
    for turn in range(TURNS):
        begin = time.monotonic()
        subprocess.run([sonde, "attach", str(target.pid), "-q", "-o", "%s/attach%d" % (folder, turn), "--duration", str(SECONDS)],
                       check=True)
        end = time.monotonic()
        on.append((begin + MARGIN, begin + SECONDS - 0.05))
        time.sleep(SECONDS)
        off.append((end + 0.05, end + SECONDS))
    target.wait()
    return compare(rows, on, off)


def inside_run(options):
    def measure(sonde, python, program, folder, script):
        rows = os.path.join(folder, "rows")
        run = subprocess.Popen([sonde, "run", "-q", "-o", os.path.join(folder, "run")] + options + ["--"] +
                               worker(python, program, script, rows))
        time.sleep(1)
        on, off = [], []
        for turn in range(TURNS):
            begin = time.monotonic()
            time.sleep(SECONDS)
            run.send_signal(signal.SIGSTOP)
            on.append((begin + MARGIN, begin + SECONDS))
            begin = time.monotonic()
            time.sleep(SECONDS)
            off.append((begin + 0.05, begin + SECONDS))
            run.send_signal(signal.SIGCONT)
        run.wait()
        return compare(rows, on, off)

    return measure


def main():
    sonde, python = sys.argv[1:3]
    ways = [("attach at 100 Hz", attached, 1.02), ("sonde run, sampling at 100 Hz and memory curve", inside_run([]), 1.01),
            ("sonde run, memory curve alone", inside_run(["--python", "none"]), 1.01)]
    print("What Sonde costs a program that it looks into, %s" % python, flush=True)
    for program in ("call_heavy", "typical"):
        for name, measure, bar in ways:
            folder = tempfile.mkdtemp(prefix="sonde-bench-")
            try:
                script = os.path.join(folder, "worker.py")
                with open(script, "w") as file:
                    file.write(WORKER)
                cpu, wall = measure(sonde, python, program, folder, script)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print("  %-10s  %-46s  CPU %.4f  wall %.4f  (bar %.2f)%s" %
                  (program, name, cpu, wall, bar, "" if wall <= bar else "  ABOVE"), flush=True)


main()
