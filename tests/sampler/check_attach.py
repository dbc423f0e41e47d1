"""Attaches to known_program.py again and again and checks what is seen.

    check_attach.py PROBE PYTHON PROGRAM [TIMES]
"""
import os
import re
import signal
import subprocess
import sys
import time

WAITERS = 46
BUSY = 3


def allowed_lines(program):
    lines = {}
    with open(program) as source:
        for number, line in enumerate(source, 1):
            match = re.search(r"# (\w+)$", line)
            if match:
                lines.setdefault(match.group(1), set()).add(number)
    return lines


def fail(text):
    print("check_attach:", text)
    sys.exit(1)


def threads_of(text):
    threads = []
    for line in text.splitlines():
        if line.startswith("thread "):
            threads.append((line.split()[2], line, []))
        else:
            match = re.match(r"  (\S+) \((.*):(\d+)\)$", line)
            if not match:
                fail("strange line: " + line)
            threads[-1][2].append((match.group(1), match.group(2), int(match.group(3))))
    return threads


def check(text, program, lines):
    threads = threads_of(text)
    if len(threads) != WAITERS + BUSY + 1:
        fail("%d threads instead of %d" % (len(threads), WAITERS + BUSY + 1))
    for name, _, frames in threads:
        own = [frame for frame in frames if frame[1] == program]
        for function, _, line in own:
            if function in lines and line not in lines[function]:
                fail("%s: line %d is none of %s" % (name, line, function))
        functions = [frame[0] for frame in own]
        if name.startswith("waiter-"):
            if functions[-1:] != ["wait_long"] or frames[-1][0] != "_bootstrap":
                fail("%s: %s" % (name, frames))
        else:
            inside = functions[: functions.index("work")] if "work" in functions else None
            if inside not in ([], ["seventy"], ["thirty"], ["leaf", "seventy"], ["leaf", "thirty"]):
                fail("%s: %s" % (name, frames))
            rest = functions[functions.index("work") + 1:]
            if rest != (["main", "<module>"] if name == "MainThread" else []):
                fail("%s: %s" % (name, frames))


def state_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def attach(probe, pid, times, program, lines):
    for _ in range(times):
        result = subprocess.run([probe, "dump", str(pid)], stdout=subprocess.PIPE, text=True)
        if result.returncode != 0:
            fail("the probe failed")
        check(result.stdout, program, lines)
    print("%d times, under load: %d threads, each stack as the program has it" % (times, WAITERS + BUSY + 1))


def main():
    probe, python, program = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
    times = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    lines = allowed_lines(program)
    seconds = 600  # ends with SIGTERM
    target = subprocess.Popen([python, program, str(seconds), str(WAITERS), str(BUSY)], stdout=subprocess.PIPE, text=True)
    if target.stdout.readline() != "ready\n":
        fail("the program did not start")
    time.sleep(0.3)
    load = [subprocess.Popen([python, "-c", "while True: pass"]) for _ in range(2)]
    try:
        attach(probe, target.pid, times, program, lines)
    finally:
        for process in load:
            process.kill()
            process.wait()
    # On a busy machine the program stands still most of the time, and a few seconds are few independent samples.
    shares = []
    for _ in range(5):
        result = subprocess.run([probe, "sample", str(target.pid), "4", "1000"], stdout=subprocess.PIPE, text=True)
        found = {match.group(1): float(match.group(2)) for match in re.finditer(r"function (\S+) +own +\S+ total +([\d.]+)%", result.stdout)}
        shares.append(100 * found["seventy"] / (found["seventy"] + found["thirty"]))
        share = sum(shares) / len(shares)
        if abs(share - 70) <= 3:
            break
    print(result.stdout.splitlines()[0])
    print("seventy has %.1f%% of the time, 70%% expected" % share)
    if abs(share - 70) > 3:
        fail("the shares are wrong: %s" % shares)

    for _ in range(5):
        killed = subprocess.Popen([probe, "sample", str(target.pid), "60", "1000"], stdout=subprocess.DEVNULL)
        time.sleep(0.4)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        time.sleep(0.05)
        if state_of(target.pid) in "Tt":
            fail("the program stays stopped behind a killed sampler")
    print("5 samplers killed at work: the program goes on")

    target.terminate()
    word, rounds = target.stdout.readline().split()
    if target.wait() != 0 or word != "right" or int(rounds) == 0:
        fail("the program was harmed: %s %s, status %d" % (word, rounds, target.returncode))
    print("the program ended by itself with the right result after %s rounds" % rounds)


if __name__ == "__main__":
    main()
