"""Launches kernels from known lines: each line that ends with "#: KERNEL COUNT" launches that many of that name."""

import ctypes
import sys
import threading
import time

import cupy


def step():
    cupy.launch("in_function")  #: in_function 3
    cupy.wait()


def in_thread():
    for _ in range(4):
        cupy.launch("in_thread")  #: in_thread 8


for _ in range(3):
    step()
cupy.launch("outside")  #: outside 1
[cupy.launch_by_driver("by_driver") for _ in range(2)]  #: by_driver 2
threads = [threading.Thread(target=in_thread) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if "torch" in sys.argv:
    ctypes.CDLL(sys.argv[-1])
    time.sleep(1)
    cupy.launch("beside_torch")
if "take" in sys.argv:
    cupy.take_over()
    time.sleep(1)
    cupy.release()
    time.sleep(1)
    cupy.launch("afterwards")
