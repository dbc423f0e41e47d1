"""What each kind of CUPTI's records costs a launch-bound loop, in one process: cost_parts.py

Run with Sonde's library loaded and SONDE_CUDA_KINDS=none: it serves the buffers, and this program switches the kinds.
"""

import ctypes
import statistics
import time

import torch

from linear_loop import linear_loop

KERNEL, COPY, SET, DRIVER, RUNTIME, OVERHEAD, SYNC, MEMORY, POOL = 10, 1, 2, 4, 5, 17, 38, 49, 50
LAUNCHES = ("cudaLaunch", "cudaMemcpy", "cudaMemset", "cudaGraphLaunch", "cuLaunch", "cuMemcpy", "cuMemset")


def load_cupti():
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "libcupti.so" in line:
                return ctypes.CDLL(line[line.index("/") :].strip())
    raise SystemExit("no libcupti is loaded")


step = linear_loop()
for _ in range(100):
    step()
torch.cuda.synchronize()
cupti = load_cupti()


def choose(domain, enable):
    function = cupti.cuptiActivityEnableRuntimeApi if domain == 2 else cupti.cuptiActivityEnableDriverApi
    for number in range(1, 1000):
        name = ctypes.c_char_p()
        if cupti.cuptiGetCallbackName(domain, number, ctypes.byref(name)) != 0:
            break
        if name.value and name.value.decode().startswith(LAUNCHES) and "Get" not in name.value.decode():
            function(number, enable)


def kinds(*numbers):
    return lambda enable: [
        (cupti.cuptiActivityEnable if enable else cupti.cuptiActivityDisable)(number) for number in numbers
    ]


def calls(domain):
    return lambda enable: choose(domain, int(enable))


def both(*switches):
    return lambda enable: [switch(enable) for switch in switches]


variants = {
    "nothing": kinds(),
    "kernel": kinds(KERNEL),
    "kernel, copy, set": kinds(KERNEL, COPY, SET),
    "runtime launches": calls(2),
    "runtime whole": kinds(RUNTIME),
    "driver launches": calls(1),
    "driver whole": kinds(DRIVER),
    "sync": kinds(SYNC),
    "memory": kinds(MEMORY, POOL),
    "overhead": kinds(OVERHEAD),
    "kernel + runtime launches": both(kinds(KERNEL, COPY, SET), calls(2)),
    "kernel + both launches": both(kinds(KERNEL, COPY, SET), calls(2), calls(1)),
    "kernel + runtime whole": kinds(KERNEL, COPY, SET, RUNTIME),
    "all whole": kinds(KERNEL, COPY, SET, RUNTIME, DRIVER, SYNC, MEMORY, POOL, OVERHEAD),
}
times = {name: [] for name in variants}
for _ in range(3):
    for name, switch in variants.items():
        switch(True)
        for _ in range(5):
            step()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(150):
            step()
        torch.cuda.synchronize()
        times[name].append(1000 * (time.perf_counter() - start) / 150)
        switch(False)
        cupti.cuptiActivityFlushAll(1)
plain = statistics.median(times["nothing"])
for name, values in times.items():
    value = statistics.median(values)
    print(f"  {name:28} {value:7.3f} ms a step, adds {100 * (value / plain - 1):6.1f} %   ({min(values):.3f} to {max(values):.3f})")
