"""A program whose stacks are known, for tests that look into it from outside.

    known_program.py SECONDS WAITERS BUSY

Runs work() in the main thread and in BUSY others while WAITERS threads wait, until the time is over or SIGTERM comes, checks its
own result and prints it. A line that may be at work has a comment with the name of its function; a sampler must never see another
line of these functions.
"""
import signal
import sys
import threading
import time

stopped = []


def leaf(count):               # leaf
    total = 0                  # leaf
    for i in range(count):     # leaf
        total += i & 7         # leaf
    return total               # leaf


def seventy():                 # seventy
    return leaf(7000)          # seventy


def thirty():                  # thirty
    return leaf(3000)          # thirty


def work(end, results):                           # work
    total = rounds = 0                            # work
    while not stopped and time.monotonic() < end: # work
        total += seventy()                        # work
        total += thirty()                         # work
        rounds += 1                               # work
    results.append((total, rounds))               # work


def wait_long(event):          # wait_long
    event.wait()               # wait_long


def main():
    seconds, waiters, busy = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    event = threading.Event()
    results = []
    end = time.monotonic() + seconds
    waiting = [threading.Thread(target=wait_long, args=(event,), name="waiter-%d" % i) for i in range(waiters)]
    working = [threading.Thread(target=work, args=(end, results), name="worker-%d" % i) for i in range(busy)]
    for thread in waiting + working:
        thread.start()
    signal.signal(signal.SIGTERM, lambda number, frame: stopped.append(number))
    print("ready", flush=True)
    work(end, results)         # main
    event.set()                # main
    for thread in waiting + working:
        thread.join()          # main
    one = sum(i & 7 for i in range(7000)) + sum(i & 7 for i in range(3000))
    good = len(results) == busy + 1 and all(total == rounds * one for total, rounds in results)
    print("right" if good else "wrong", sum(rounds for _, rounds in results), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
