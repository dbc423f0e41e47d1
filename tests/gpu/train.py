"""Trains a small number of steps, always the same ones; says which kernels torch.profiler saw in each.

    train.py --model resnet50|transformer [--steps N] [--profile OUT.json] [--seconds S] [--inside OUT.json]

Each step stands in an NVTX range "proof step N" (and a record_function of that name) and ends with a synchronization, so that
every kernel lies in the step that launched it. --profile runs the same loop under torch.profiler and writes names, counts and
times by step. --seconds goes on until the time is over. --inside starts torch.profiler in the middle of a run.
"""

import argparse
import json
import os
import time

import torch
from torch import nn


class Transformer(nn.Module):
    def __init__(self, words=1000, width=256, layers=2):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.encoder(self.embed(tokens)))


def make(model, batch):
    torch.manual_seed(1)
    if model == "resnet50":
        import torchvision

        net = torchvision.models.resnet50().cuda()
        inputs = torch.randn(batch, 3, 224, 224, device="cuda")
        target = torch.randint(0, 1000, (batch,), device="cuda")
    else:
        net = Transformer().cuda()
        inputs = torch.randint(0, 1000, (batch, 128), device="cuda")
        target = torch.randint(0, 1000, (batch, 128), device="cuda")
    loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

    def step():
        out = net(inputs)
        value = loss(out.flatten(0, -2), target.flatten())
        optimizer.zero_grad()
        value.backward()
        optimizer.step()

    return step


def run_steps(step, count, first=0):
    for i in range(first, first + count):
        name = f"proof step {i}"
        torch.cuda.nvtx.range_push(name)
        with torch.profiler.record_function(name):
            step()
            torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()


def by_step(profiler, count):
    events = profiler.profiler.kineto_results.events()
    windows = {}
    operators = {}
    device = []
    for event in events:
        kind = str(event.device_type())
        start, duration, name = event.start_ns(), event.duration_ns(), event.name()
        if kind.endswith("CUDA"):
            if not name.startswith(("proof step", "Optimizer.")):
                device.append((start, duration, name))
        elif name.startswith("proof step "):
            windows[int(name.split()[2])] = (start, start + duration)
        elif name.startswith("aten::") or "Backward" in name or "autograd::" in name:
            operators[name] = operators.get(name, 0) + 1
    steps = {}
    for number, (begin, end) in windows.items():
        kernels = {}
        for start, duration, name in device:
            if begin <= start < end:
                entry = kernels.setdefault(name, [0, 0])
                entry[0] += 1
                entry[1] += duration
        steps[number] = kernels
    return {"steps": steps, "operators": operators, "count": count}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--profile")
    parser.add_argument("--inside")
    parser.add_argument("--seconds", type=float, default=0)
    arguments = parser.parse_args()
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = False
    step = make(arguments.model, arguments.batch)
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if arguments.seconds:
        print("process", os.getpid(), flush=True)
        end = time.monotonic() + arguments.seconds
        number = 0
        while time.monotonic() < end:
            run_steps(step, 1, number)
            number += 1
            print("step", number, flush=True)
        return
    out = arguments.profile or arguments.inside
    if arguments.inside:
        run_steps(step, arguments.steps, 100)
        time.sleep(1)
    if not out:
        run_steps(step, arguments.steps)
        return
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        run_steps(step, arguments.steps)
    with open(out, "w") as file:
        json.dump(by_step(profiler, arguments.steps), file)
    if arguments.profile:
        profiler.export_chrome_trace(arguments.profile.replace(".json", ".pt.trace.json.gz"))
    if arguments.inside:
        for i in range(6):
            time.sleep(0.6)
            run_steps(step, 1, 200 + i)


main()
