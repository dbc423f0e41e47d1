"""Operators at known places: each line that ends with "#: OPERATOR FUNCTION" runs that operator, and nobody else does."""

import threading

import torch

x = torch.ones(4, 4)
y = torch.neg(x)  #: aten::neg <module>


def plain(value):
    value = value + 1
    return torch.abs(value)  #: aten::abs plain


class Thing:
    def method(self, value):
        return [
            torch.sign(part)  #: aten::sign Thing.method.<locals>.<listcomp>
            for part in (value, value)
        ]

    def generate(self, value):
        for _ in range(3):
            yield torch.floor(value)  #: aten::floor Thing.generate


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, value):
        return torch.tanh(self.layer(value))  #: aten::tanh Net.forward


def in_thread():
    for _ in range(5):
        torch.ceil(x)  #: aten::ceil in_thread


plain(x)
thing = Thing()
thing.method(x)
list(thing.generate(x))
(lambda value: torch.trunc(value))(x)  #: aten::trunc <lambda>
with torch.autograd.profiler.record_function("around"):
    torch.round(
        x,
    )  #: aten::round <module> -2
threads = [threading.Thread(target=in_thread) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
net = Net()
for _ in range(3):
    loss = net(x).exp()  #: aten::exp <module>
    loss.sum().backward()
# Code that is made anew, each time at the place of the last one.
for name in ("frac", "sin", "cos", "log1p", "expm1") * 20:
    scope = {"torch": torch, "x": x}
    exec(compile("\n" * (len(name) * 100) + "torch.%s(x)" % name, "made_" + name, "exec"), scope)
