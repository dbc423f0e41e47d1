"""One of the processes that torchrun starts: trains a few steps on the first GPU, and sums a gradient with the other one."""

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = torch.nn.Linear(256, 256).cuda()
for _ in range(10):
    net.zero_grad()
    net(torch.randn(64, 256, device="cuda")).sum().backward()
    gradient = net.weight.grad.cpu()
    dist.all_reduce(gradient)
print("rank", os.environ["RANK"], float(gradient.sum()))
dist.destroy_process_group()
