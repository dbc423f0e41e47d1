"""The launch-bound loop that costs are measured on: 20 small linear layers with ReLU, forward and backward."""

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
