"""Times two training loops: cost.py [--torch-profiler]. Prints milliseconds for a step of each."""

import argparse
import contextlib
import json
import time

import torch
from torch import nn


def linear_loop():
    torch.manual_seed(1)
    layers = []
    for _ in range(20):
        layers += [nn.Linear(64, 64), nn.ReLU()]
    net = nn.Sequential(*layers).cuda()
    inputs = torch.randn(32, 64, device="cuda")

    def step():
        net.zero_grad(set_to_none=True)
        net(inputs).sum().backward()

    return step


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


def measure(step, warm_up, count, profiled):
    for _ in range(warm_up):
        step()
    torch.cuda.synchronize()
    context = contextlib.nullcontext()
    if profiled:
        from torch.profiler import ProfilerActivity, profile

        context = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with context:
        if profiled:
            step()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        end = time.perf_counter()
    return 1000 * (end - start) / count


parser = argparse.ArgumentParser()
parser.add_argument("--torch-profiler", action="store_true")
parser.add_argument("--linear-only", action="store_true")
arguments = parser.parse_args()
torch.backends.cudnn.benchmark = False
result = {"linear": measure(linear_loop(), 100, 300, arguments.torch_profiler)}
if not arguments.linear_only:
    result["resnet50"] = measure(resnet_loop(), 10, 30, arguments.torch_profiler)
print(json.dumps(result))
