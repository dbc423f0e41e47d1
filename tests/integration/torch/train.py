"""Trains a small network on the CPU, always the same way.

    train.py            trains; prints the last loss
    train.py --profile  the same under torch.profiler; prints a line "NAME<tab>COUNT" for each operator that it saw
"""

import sys

import torch

STEPS = 4


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        self.head = torch.nn.Linear(8, 4)

    def forward(self, inputs):
        return self.head(self.body(inputs))


def train():
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    data = torch.utils.data.TensorDataset(torch.randn(16 * STEPS, 16), torch.randint(0, 4, (16 * STEPS,)))
    for inputs, target in torch.utils.data.DataLoader(data, batch_size=16):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(inputs), target)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.set_num_threads(1)
if "--profile" in sys.argv:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        train()
    for event in profiler.key_averages():
        print("%s\t%d" % (event.key, event.count))
else:
    print("%.6f" % train())
