"""Asks the agent where it is, from inside of native calls with and without the interpreter's lock, and says where it was.

    places.py PACKAGE_FOLDER OUTPUT_FOLDER
"""

import ctypes
import json
import os
import sys
import threading

PACKAGE, OUTPUT = sys.argv[1:3]
sys.path.insert(0, PACKAGE)
from sonde import _agent  # noqa: E402

address = _agent.start_places()
unlocked = ctypes.CFUNCTYPE(ctypes.c_uint32)(address)  # lets the lock go before it calls
locked = ctypes.PYFUNCTYPE(ctypes.c_uint32)(address)
said = []


def stack():
    frame = sys._getframe(1)
    out = []
    while frame:
        out.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return out


def note():
    said.append((unlocked(), stack()))
    said.append((locked(), stack()))
    for _ in range(3):
        said.append((_agent.place(), stack()))


class Thing:
    def method(self):
        note()
        return [(unlocked(), stack()) for _ in range(2)]

    def generate(self):
        for _ in range(2):
            yield unlocked(), stack()


def down(depth):
    if depth:
        return down(depth - 1)
    said.append((unlocked(), stack()))


def in_thread():
    for _ in range(50):
        note()


def make(number):
    """Code that dies with this call."""
    scope = {"unlocked": unlocked, "stack": stack}
    exec(compile("\n" * (number % 200) + "def made():\n    return unlocked(), stack()\n", "made", "exec"), scope)
    return scope["made"]()


def made_in_thread():
    for number in range(300):
        said.append(make(number))


def write(name):
    with open(os.path.join(OUTPUT, name), "w") as file:
        json.dump(said, file)


def for_ever():
    number = 0
    while True:
        number += 1
        make(number)


note()
note()
said.extend(Thing().method())
said.extend(Thing().generate())
(lambda: said.append((unlocked(), stack())))()
down(30)
down(700)
threads = [threading.Thread(target=target) for target in (in_thread, made_in_thread) * 3]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
child = os.fork()
if child == 0:
    said.clear()
    note()
    write("child.json")
    sys.exit(0)
os.waitpid(child, 0)
write("parent.json")
# Those are at it while the interpreter ends.
for _ in range(3):
    threading.Thread(target=for_ever, daemon=True).start()
