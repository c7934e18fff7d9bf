#!/usr/bin/env python3
"""Makes PyTorch's numbers for nodes whose parameters follow those of another node: copied.safetensors beside this file.

    python3 make_copied.py    # needs torch and numpy; the stored file was made with torch 2.15.0

After each step a target network takes a part of the way to the online one, as torch.lerp, or becomes a copy of it in every n-th step. Its batch
norms normalise by the batch in training, and its running statistics are those of the online network at the last renewal. Plain descent, everything
in float64 from numbers that are float32. Tensors are called as in make_shared.py.
"""
import copy
import json
import pathlib

import torch
from torch import nn

import make_shared
from make_layers import write
from make_shared import CASES, END, PAIR, TOWER, Tower, distance, drawn

HERE = pathlib.Path(__file__).parent
STEPS = 5


class Pair(nn.Module):
    def __init__(self, online, **others):
        super().__init__()
        self.online, self.target = online, copy.deepcopy(online)
        for name, module in others.items():
            self.add_module(name, module)
        for p in self.target.parameters():
            p.requires_grad = False
        self.keep()

    def keep(self):
        self.kept = {n: b.clone() for n, b in self.target.named_buffers()}

    def renew(self, k, average=None, every=1):
        due = (k + 1) % every == 0
        for to, of in zip(self.target.parameters(), self.online.parameters()):
            if due:
                to.copy_(of) if average is None else to.lerp_(of, 1 - average)
        for to, of in zip(self.target.buffers(), self.online.buffers()):
            if due:
                to.copy_(of)
        if due:
            self.keep()
        for n, b in self.target.named_buffers():
            b.copy_(self.kept[n])  # what the forward pass of the target has renewed is dropped


def steps_of(*shape, seed):
    return drawn(STEPS, *shape, seed=seed)


def add(name, model, net, inputs, forward, **how):
    make_shared.add(name, model, net, inputs, forward, steps=STEPS, renew=lambda k: net.renew(k, **how))


def byol():
    """A symmetric loss, as in Grill et al. 2020 (arXiv 2006.07733): the target reads both views with one set of copies."""
    net = Pair(Tower(), predictor=nn.Linear(4, 4))

    def forward(a, b):
        p, q = net.predictor(net.online(a)), net.predictor(net.online(b))
        t, s = net.target(a), net.target(b)
        return distance(p, s) + distance(q, t), {"p": p, "t": t}

    nodes = [
        {"name": "online", "op": "block:tower", "in": "a"}, {"name": "online_b", "op": "block:tower", "in": "b", "share": "online"},
        {"name": "predictor", "op": "dense", "in": "online", "units": 4}, {"name": "q", "op": "dense", "in": "online_b", "share": "predictor"},
        {"name": "p", "op": "mul", "in": ["predictor", 1]},
        {"name": "target", "op": "block:tower", "in": "a", "share": "online", "average": 0.75},
        {"name": "s", "op": "block:tower", "in": "b", "share": "target"}, {"name": "t", "op": "mul", "in": ["target", 1]},
        {"name": "d", "op": "sub", "in": ["p", "s"]}, {"name": "d2", "op": "square"}, {"name": "dm", "op": "mean"},
        {"name": "e", "op": "sub", "in": ["q", "t"]}, {"name": "e2", "op": "square"}, {"name": "em", "op": "mean"},
        {"name": "end", "op": "add", "in": ["dm", "em"]}]
    add("byol", {"blocks": {"tower": TOWER}, "nodes": nodes}, net, {n: steps_of(6, 3, seed=i) for i, n in enumerate("ab")}, forward, average=0.75)


def q_learning():
    """The best value of the next state by a network that is copied in every second step (Mnih et al. 2015, doi 10.1038/nature14236)."""
    net = Pair(Tower())

    def forward(a, b):
        u = net.online(a)
        v = net.target(b)
        best = v.max(1, keepdim=True).values * 0.5
        return distance(u, best.expand_as(u)), {"u": u, "v": v}

    nodes = [{"name": "online", "op": "block:tower", "in": "a"}, {"name": "target", "op": "block:tower", "in": "b", "share": "online", "copy": 2},
             {"name": "u", "op": "mul", "in": ["online", 1]}, {"name": "v", "op": "mul", "in": ["target", 1]},
             {"name": "best", "op": "max", "in": "v", "axis": 1, "keepdims": True}, {"name": "half", "op": "mul", "in": ["best", 0.5]},
             {"name": "d", "op": "sub", "in": ["u", "half"]}, {"name": "d2", "op": "square"}, {"name": "end", "op": "mean"}]
    add("q_learning", {"blocks": {"tower": TOWER}, "nodes": nodes}, net, {n: steps_of(6, 3, seed=5 + i) for i, n in enumerate("ab")}, forward, every=2)


def repeated():
    """Repetitions with one set of parameters, and an average that forgets fast."""
    net = Pair(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))

    def forward(a, b):
        outs = []
        for layer, h in ((net.online, a), (net.target, b)):
            for _ in range(3):
                h = h + torch.tanh(layer(h))
            outs.append(h)
        u, v = outs
        return distance(u, v), {"u": u, "v": v}

    block = {"inputs": ["x"], "output": "y", "nodes": [
        {"name": "fc", "op": "dense", "in": "x", "units": 3}, {"name": "bn", "op": "batch_norm", "activation": "tanh"},
        {"name": "y", "op": "add", "in": ["x", "bn"]}]}
    nodes = [{"name": "u", "op": "block:layer", "in": "a", "repeat": 3, "share": True},
             {"name": "v", "op": "block:layer", "in": "b", "share": "u", "average": 0.25}]
    make_shared.add("copied_repetitions", {"blocks": {"layer": block}, "nodes": [*nodes, *END]}, net, PAIR, forward,
                    lambda n: n.replace("online.", "u.0.").replace("target.", "v.0.").replace("0.0.", "0.fc.").replace("0.1.", "0.bn."),
                    renew=lambda k: net.renew(k, average=0.25))


def scanned():
    """The cell of a scan, and a convolution, whose filters lie in another order in memory."""
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.bn = nn.Linear(6, 3), nn.BatchNorm1d(3)

        def forward(self, x, h):
            return torch.tanh(self.bn(self.fc(torch.cat([x, h], 1))))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.conv = Cell(), nn.Conv1d(3, 3, 3, padding=1)

        def forward(self, sequence):
            h = torch.zeros(4, 3, dtype=torch.float64)
            x = self.conv(sequence.movedim(-1, 1)).movedim(1, -1)
            for step in range(3):
                h = self.cell(x[:, step], h)
            return h

    net = Pair(Net())

    def forward(a, b):
        u, v = net.online(a), net.target(b)
        return distance(u, v), {"u": u, "v": v}

    block = {"inputs": ["x", "h"], "output": "next", "nodes": [
        {"name": "xh", "op": "concat", "in": ["x", "h"]}, {"name": "fc", "op": "dense", "units": 3},
        {"name": "bn", "op": "batch_norm"}, {"name": "next", "op": "tanh"}]}
    nodes = [{"name": "c", "op": "conv1d", "in": "a", "filters": 3, "kernel": 3, "pad": "same"},
             {"name": "s", "op": "scan", "block": "cell", "in": {"x": "c"}, "carry": {"h": ["N", 3]}, "slice": ["x"], "stack": [], "out": ["u"]},
             {"name": "c2", "op": "conv1d", "in": "b", "share": "c", "copy": 3},
             {"name": "s2", "op": "scan", "share": "s", "copy": 3, "in": {"x": "c2"}, "out": ["v"]}]
    make_shared.add("copied_scan", {"blocks": {"cell": block}, "nodes": [*nodes, *END]}, net,
                    {"a": steps_of(4, 3, 3, seed=8), "b": steps_of(4, 3, 3, seed=9)}, forward,
                    lambda n: n.replace("online.cell.", "s.").replace("target.cell.", "s2.").replace("online.conv.", "c.").replace("target.conv.", "c2."),
                    steps=STEPS, renew=lambda k: net.renew(k, every=3))


if __name__ == "__main__":
    torch.set_num_threads(1)
    byol(), q_learning(), repeated(), scanned()
    write(HERE / "copied.safetensors", {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_copied.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
