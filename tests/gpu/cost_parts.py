"""What each switch costs a launch-bound loop, in one process: cost_parts.py

Run with Sonde's libraries loaded, torch's operators and modules on, and SONDE_CUDA_KINDS=none: the library serves CUPTI's buffers,
and this program switches. All variants come in turn, many times, for a few steps each: what drifts meets all of them.
"""

import ctypes
import os
import statistics
import sys
import time

import torch

from linear_loop import linear_loop

KERNEL, COPY, SET, OVERHEAD, SYNC, MEMORY, POOL = 10, 1, 2, 17, 38, 49, 50
LAUNCHES = ("cudaLaunch", "cudaMemcpy", "cudaMemset", "cudaGraphLaunch", "cuLaunch", "cuMemcpy", "cuMemset")
TURNS, STEPS = 24, 20


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
operators = ctypes.CDLL(os.environ["SONDE_TORCH_LIBRARY"])


def kinds(*numbers):
    def switch(enable):
        for number in numbers:
            (cupti.cuptiActivityEnable if enable else cupti.cuptiActivityDisable)(number)

    return switch


def calls(domain):
    choose = cupti.cuptiActivityEnableRuntimeApi if domain == 2 else cupti.cuptiActivityEnableDriverApi
    chosen = []
    for number in range(1, 2000):
        name = ctypes.c_char_p()
        if cupti.cuptiGetCallbackName(domain, number, ctypes.byref(name)) != 0:
            break
        if name.value and name.value.decode().startswith(LAUNCHES) and b"Get" not in name.value:
            chosen.append(number)

    def switch(enable):
        for number in chosen:
            choose(number, int(enable))

    return switch


def torch_operators(shapes):
    def switch(enable):
        if enable:
            operators.sonde_torch_start(shapes)
        else:
            operators.sonde_torch_stop()

    return switch


def modules():
    monitoring = sys.monitoring
    tools = [tool for tool in range(6) if monitoring.get_tool(tool) == "sonde modules"]
    code = torch.nn.Module._call_impl.__code__
    events = monitoring.events.PY_START | monitoring.events.PY_RETURN

    def switch(enable):
        monitoring.set_local_events(tools[0], code, events if enable else 0)

    return switch if tools else None


work, runtime, driver = kinds(KERNEL, COPY, SET), calls(2), calls(1)
with_shapes, networks = torch_operators(1), modules()
variants = {
    "nothing": [],
    "kernels, copies, sets": [work],
    "calls that launch": [runtime, driver],
    "kernels and calls": [work, runtime, driver],
    "and waiting, memory, overhead": [work, runtime, driver, kinds(SYNC, MEMORY, POOL, OVERHEAD)],
    "operators": [torch_operators(0)],
    "operators, shapes": [with_shapes],
    "all that is usual": [work, runtime, driver, with_shapes],
}
if networks:
    variants["modules"] = [networks]
    variants["all that is usual"].append(networks)
    networks(False)
operators.sonde_torch_stop()
times = {name: [] for name in variants}
for _ in range(TURNS):
    for name, switches in variants.items():
        for switch in switches:
            switch(True)
        for _ in range(3):
            step()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
        times[name].append(1000 * (time.perf_counter() - start) / STEPS)
        for switch in reversed(switches):
            switch(False)
for name, values in times.items():
    added = [100 * (value / plain - 1) for value, plain in zip(values, times["nothing"])]
    low, middle, high = statistics.quantiles(added, n=4)
    print(f"  {name:30} {statistics.median(values):7.3f} ms a step, adds {middle:5.1f} % (quarters {low:.1f} to {high:.1f})")
