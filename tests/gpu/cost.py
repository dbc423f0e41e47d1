"""Times two training loops: cost.py [--torch-profiler] [--linear-only]. Prints milliseconds for a step of each: the median of a few batches of
steps. With --torch-profiler the first one also under torch.profiler, behind the plain one."""

import argparse
import contextlib
import json
import statistics
import time

import torch
from torch import nn

from linear_loop import linear_loop


def resnet_loop():
    import torchvision

    torch.manual_seed(1)
    net = torchvision.models.resnet50().cuda()
    inputs = torch.randn(32, 3, 224, 224, device="cuda")
    target = torch.randint(0, 1000, (32,), device="cuda")
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss(net(inputs), target).backward()
        optimizer.step()

    return step


def measure(step, batches, count, profiled):
    context = contextlib.nullcontext()
    if profiled:
        from torch.profiler import ProfilerActivity, profile

        context = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    taken = []
    with context:
        for _ in range(batches):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                step()
            torch.cuda.synchronize()
            taken.append(1000 * (time.perf_counter() - start) / count)
    return statistics.median(taken)


parser = argparse.ArgumentParser()
parser.add_argument("--torch-profiler", action="store_true")
parser.add_argument("--linear-only", action="store_true")
arguments = parser.parse_args()
torch.backends.cudnn.benchmark = False
plain, profiled = {}, {}
for name, make, batches, count in (("linear", linear_loop, 12, 40), ("resnet50", resnet_loop, 8, 8)):
    if arguments.linear_only and name != "linear":
        break
    step = make()
    for _ in range(count):
        step()
    plain[name] = measure(step, batches, count, False)
    if arguments.torch_profiler and name == "linear":
        profiled[name] = measure(step, batches, count, True)
print(json.dumps(plain))
if profiled:
    print("profiled", json.dumps(profiled))
