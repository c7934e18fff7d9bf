#!/usr/bin/env python3
"""Makes PyTorch's numbers for parameters that several nodes share: shared.safetensors beside this file.

    python3 make_shared.py    # needs torch and numpy; the stored file was made with torch 2.15.0

A module is called several times in a step: gradients add, and a batch norm renews its running statistics once per call. Two steps of plain
descent, everything in float64 from numbers that are float32. The metadata holds each case's whole model. A case's tensors:

  CASE/in.INPUT      an input, of both steps
  CASE/start.P       a parameter or a buffer
  CASE/loss          the loss of each step
  CASE/after.P       a parameter or a buffer after each step: the first tells the gradients, start - rate * gradient
  CASE/out.NAME      what a prediction of the first step's inputs returns after both
"""
import json
import pathlib

import torch
from torch import nn

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
CASES = {}
STEPS, RATE = 2, 0.125


def drawn(*shape, seed):
    return f32(torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double())


def shape_of(v):
    return {"shape": ["N", *v.shape[2:]], **({} if v.is_floating_point() else {"dtype": "i32"})}


def add(name, model, net, inputs, forward, names=lambda n: n, steps=STEPS, renew=lambda k: None):
    """`net` has the parameters, under `names` of its own; `forward` gives the loss and the outputs of one step's inputs; `renew` ends step k."""
    net.double()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(drawn(*p.shape, seed=100 + i) * 0.5)

    def state():
        return {names(n): v.detach().clone() for n, v in net.state_dict().items()}

    start, losses, after = state(), [], []
    for k in range(steps):
        net.zero_grad()
        loss, _ = forward(*(v[k] for v in inputs.values()))
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                if p.requires_grad:
                    p -= RATE * p.grad
            renew(k)
        losses.append(loss.detach())
        after.append(state())
    net.eval()
    _, outputs = forward(*(v[0] for v in inputs.values()))
    model = {"format": "heddle-model/1", "name": "m", "inputs": {n: shape_of(v) for n, v in inputs.items()}, **model,
             "outputs": {n: n for n in outputs},
             "train": {"batch": {"N": next(iter(inputs.values())).shape[1]}, "steps": steps, "loss": {"op": "value", "in": "end"},
                       "optimizer": {"op": "sgd", "lr": RATE}}}
    CASES[name] = model, {**{"in." + n: v for n, v in inputs.items()}, **{"start." + n: v for n, v in start.items()}, "loss": torch.stack(losses),
                          **{"after." + n: torch.stack([state[n] for state in after]) for n in start},
                          **{"out." + n: v.detach() for n, v in outputs.items()}}


def distance(u, v):
    return ((u - v) ** 2).mean()


END = [{"name": "d", "op": "sub", "in": ["u", "v"]}, {"name": "d2", "op": "square"}, {"name": "end", "op": "mean"}]
TOWER = {"inputs": ["x"], "output": "out", "nodes": [
    {"name": "fc", "op": "dense", "units": 5}, {"name": "bn", "op": "batch_norm"}, {"name": "t", "op": "tanh"},
    {"name": "out", "op": "dense", "units": 4}]}
PAIR = {"a": drawn(STEPS, 6, 3, seed=1), "b": drawn(STEPS, 6, 3, seed=2) * 2}


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.bn, self.out = nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4)

    def forward(self, x):
        return self.out(torch.tanh(self.bn(self.fc(x))))


def siamese():
    tower = Tower()

    def forward(a, b):
        u, v = tower(a), tower(b)
        return distance(u, v), {"u": u, "v": v}

    nodes = [{"name": "u", "op": "block:tower", "in": "a"}, {"name": "v", "op": "block:tower", "in": "b", "share": "u"}]
    add("siamese", {"blocks": {"tower": TOWER}, "nodes": [*nodes, *END]}, tower, PAIR, forward, lambda n: "u." + n)


def repeated():
    """As in ALBERT (Lan et al. 2019, arXiv 1909.11942): one layer's parameters, four times."""
    layer = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))

    def forward(a, b):
        outs = []
        for h in (a, b):
            for _ in range(4):
                h = h + torch.tanh(layer(h))
            outs.append(h)
        u, v = outs
        return distance(u, v), {"u": u, "v": v}

    block = {"inputs": ["x"], "output": "y", "nodes": [
        {"name": "fc", "op": "dense", "in": "x", "units": 3}, {"name": "bn", "op": "batch_norm", "activation": "tanh"},
        {"name": "y", "op": "add", "in": ["x", "bn"]}]}
    nodes = [{"name": "u", "op": "block:layer", "in": "a", "repeat": 4, "share": True}, {"name": "v", "op": "block:layer", "in": "b", "share": "u"}]
    add("repeated", {"blocks": {"layer": block}, "nodes": [*nodes, *END]}, layer, PAIR, forward,
        lambda n: n.replace("0.", "u.0.fc.").replace("1.", "u.0.bn."))


def sequences():
    """One lstm reads both sequences, and what it has read once more."""
    lstm = nn.LSTM(3, 3, batch_first=True)

    def forward(a, b):
        (first, _), (v, _) = lstm(a), lstm(b)
        u, _ = lstm(first)
        return distance(u, v), {"u": u, "v": v}

    nodes = [{"name": "l", "op": "lstm", "in": "a", "units": 3, "out": ["first", "h1", "c1"]}, {"name": "l2", "op": "lstm", "share": "l", "in": "b", "out": ["v", "h2", "c2"]},
             {"op": "lstm", "share": "l2", "in": "first", "out": ["u", "h3", "c3"]}]
    add("sequences", {"nodes": [*nodes, *END]}, lstm, {"a": drawn(STEPS, 4, 3, 3, seed=3), "b": drawn(STEPS, 4, 3, 3, seed=4)}, forward, lambda n: "l." + n)


def scanned():
    """A cell with a batch norm, for three steps of one sequence and then of the other."""
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc, self.bn = nn.Linear(6, 3), nn.BatchNorm1d(3)

        def forward(self, x, h):
            return torch.tanh(self.bn(self.fc(torch.cat([x, h], 1))))

    cell = Cell()

    def forward(a, b):
        outs = []
        for sequence in (a, b):
            h = torch.zeros(4, 3, dtype=torch.float64)
            for step in range(3):
                h = cell(sequence[:, step], h)
            outs.append(h)
        u, v = outs
        return distance(u, v), {"u": u, "v": v}

    block = {"inputs": ["x", "h"], "output": "next", "nodes": [
        {"name": "xh", "op": "concat", "in": ["x", "h"]}, {"name": "fc", "op": "dense", "units": 3},
        {"name": "bn", "op": "batch_norm"}, {"name": "next", "op": "tanh"}]}
    nodes = [{"name": "s", "op": "scan", "block": "cell", "in": {"x": "a"}, "carry": {"h": ["N", 3]}, "slice": ["x"], "stack": [], "out": ["u"]},
             {"name": "s2", "op": "scan", "share": "s", "in": {"x": "b"}, "out": ["v"]}]
    add("scanned", {"blocks": {"cell": block}, "nodes": [*nodes, *END]}, cell, {"a": drawn(STEPS, 4, 3, 3, seed=5), "b": drawn(STEPS, 4, 3, 3, seed=6)}, forward,
        lambda n: "s." + n)


if __name__ == "__main__":
    torch.set_num_threads(1)
    siamese(), repeated(), sequences(), scanned()
    write(HERE / "shared.safetensors", {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_shared.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
