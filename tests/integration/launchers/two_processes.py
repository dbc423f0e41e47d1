"""One of the processes that torchrun starts: trains a few steps on the CPU, and sums a gradient with the other one."""

import os
import sys

import torch
import torch.distributed as dist

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = torch.nn.Linear(16, 16)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def one_step():
    optimizer.zero_grad()
    net(torch.randn(8, 16)).sum().backward()
    dist.all_reduce(net.weight.grad)
    optimizer.step()


for _ in range(5):
    one_step()
sys.stdout.write("rank %s of %s\n" % (os.environ["RANK"], os.environ["WORLD_SIZE"]))
sys.stdout.flush()
dist.destroy_process_group()
