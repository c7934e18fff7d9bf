"""A network's training step in PyTorch, for peers.py: peer_torch.py NETWORK eager|eager_nhwc|compile THREADS

Prints its version when warm; then, for each line with a number of seconds, the milliseconds of a step over about that time.
"""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from peer_clock import BATCH, RING, serve


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(784, 128), nn.Linear(128, 10)

    def forward(self, x, label):
        return F.cross_entropy(self.fc2(F.relu(self.fc1(x))), label)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3), nn.Linear(1600, 10)

    def forward(self, x, label):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.cross_entropy(self.fc(F.dropout(x.flatten(1), 0.5)), label)


def main():
    network, mode, threads = sys.argv[1:]
    torch.manual_seed(0)
    torch.set_num_threads(int(threads))
    images = network == "mnist_cnn"
    layout = torch.channels_last if mode.endswith("nhwc") else torch.contiguous_format
    shape = (BATCH, 1, 28, 28) if images else (BATCH, 784)
    model = Cnn() if images else Mlp()
    ring = [(torch.randn(shape), torch.randint(0, 10, (BATCH,))) for _ in range(RING)]
    if images:
        model = model.to(memory_format=layout)
        ring = [(x.contiguous(memory_format=layout), label) for x, label in ring]
    # The rate is tiny: random labels learnt by heart would give denormal gradients, which no real training has.
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6, fused=True)
    loss_of = torch.compile(model) if mode == "compile" else model

    def run(steps):
        for step in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(*ring[step % RING])
            loss.backward()
            optimizer.step()
        loss.item()

    serve(torch.__version__, run)


main()
