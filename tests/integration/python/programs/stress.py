"""Depth, breadth and code objects that come and go."""

import gc
import sys
import threading


def down(n):
    if n:
        down(n - 1)
    return n


def make(count, text="def f%d(x):\n  return x\n"):
    scope = {}
    exec("".join(text % i for i in range(count)), scope)
    return [scope["f%d" % i] for i in range(count)]


def wide():
    for function in WIDE:
        function(1)


def short_lived():
    for i in range(3000):
        scope = {}
        exec("def made(x):\n  return x + %d\nmade(1)" % (i % 7), scope)
    gc.collect()


def in_thread():
    down(50)


def many_threads():
    for _ in range(40):
        threads = [threading.Thread(target=in_thread) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


sys.setrecursionlimit(20000)
threading.stack_size(64 << 20)
WIDE = make(3000)


def main():
    down(8000)
    down(10)
    wide()
    wide()
    short_lived()
    many_threads()


thread = threading.Thread(target=main)
thread.start()
thread.join()
