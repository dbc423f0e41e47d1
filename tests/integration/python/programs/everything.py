"""Children of every kind, threads, output, and an exit code."""

import multiprocessing
import os
import subprocess
import sys
import threading


def work(n):
    return sum(i * i for i in range(n))


def child(queue, n):
    queue.put(work(n))


def in_thread():
    work(10)


def in_fork():
    return work(20)


def main():
    print("path", sys.path[1:3] == [p for p in sys.path[1:3] if "inject" not in p], "argv", sys.argv[1:])
    print("to the error stream", file=sys.stderr)
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue, 30))
        process.start()
        print(method, queue.get())
        process.join()
    program = "def in_subprocess():\n  return 5\nprint(in_subprocess())"
    print(subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE).stdout)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        in_fork()
        os._exit(3)
    print("child", os.waitpid(pid, 0)[1] >> 8)
    threads = [threading.Thread(target=in_thread, name="worker %d" % i) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit(7)


if __name__ == "__main__":
    main()
