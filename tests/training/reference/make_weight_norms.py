#!/usr/bin/env python3
"""Makes PyTorch's numbers for weights that are made of parameters: weight_norms.safetensors beside this file.

    python3 make_weight_norms.py    # needs torch and numpy; the stored file was made with torch 2.15.0

Weights by torch.nn.utils.parametrizations, whose state dicts name parameters and buffers as Heddle does. Three steps of plain descent,
everything in float64 from numbers that are float32. Tensors are called as in make_shared.py; images have their channels last here.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

import make_shared
from make_layers import write
from make_shared import CASES, drawn

HERE = pathlib.Path(__file__).parent
STEPS = 3


def add(name, nodes, modules, inputs, forward):
    """`forward` gives, of one step's inputs, the values of the nodes "end", which is the loss, and "u"."""
    net = nn.ModuleDict(modules)

    def outputs(*step):
        loss, u = forward(net, *step)
        return loss, {"u": u}

    make_shared.add(name, {"nodes": nodes}, net, inputs, outputs, steps=STEPS)


END = [{"name": "u2", "op": "square", "in": "u"}, {"name": "end", "op": "mean"}]


def end(u):
    return (u ** 2).mean(), u


def dense():
    nodes = [{"name": "a", "op": "dense", "units": 5, "activation": "tanh", "weight_norm": True},
             {"name": "b", "op": "dense", "units": 4, "activation": "tanh", "weight_norm": {"axis": -1}, "bias": False},
             {"name": "u", "op": "dense", "units": 3, "spectral_norm": {"iterations": 2, "eps": 1e-6}}, *END]
    modules = {"a": weight_norm(nn.Linear(3, 5)), "b": weight_norm(nn.Linear(5, 4, bias=False), dim=1),
               "u": spectral_norm(nn.Linear(4, 3), n_power_iterations=2, eps=1e-6)}
    add("normed_dense", nodes, modules, {"x": drawn(STEPS, 6, 3, seed=1)},
        lambda net, x: end(net["u"](torch.tanh(net["b"](torch.tanh(net["a"](x)))))))


def convolutions():
    """Filters lie otherwise in memory than in files; the matrix of a transposed convolution has the filters as rows."""
    nodes = [{"name": "a", "op": "conv2d", "filters": 4, "kernel": 3, "weight_norm": True, "activation": "tanh"},
             {"name": "b", "op": "conv2d", "filters": 4, "kernel": [2, 3], "weight_norm": {"axis": 1}, "activation": "tanh"},
             {"name": "c", "op": "conv2d", "filters": 6, "kernel": [1, 2], "groups": 2, "spectral_norm": True, "activation": "tanh"},
             {"name": "d", "op": "conv2d_transpose", "filters": 4, "kernel": [2, 3], "stride": 2, "spectral_norm": True, "activation": "tanh"},
             {"name": "u", "op": "conv2d_transpose", "filters": 2, "kernel": 2, "weight_norm": True}, *END]
    modules = {"a": weight_norm(nn.Conv2d(2, 4, 3)), "b": weight_norm(nn.Conv2d(4, 4, (2, 3)), dim=1), "c": spectral_norm(nn.Conv2d(4, 6, (1, 2), groups=2)),
               "d": spectral_norm(nn.ConvTranspose2d(6, 4, (2, 3), stride=2)), "u": weight_norm(nn.ConvTranspose2d(4, 2, 2))}

    def forward(net, x):
        h = x.movedim(-1, 1)
        for layer in "abcd":
            h = torch.tanh(net[layer](h))
        return end(net["u"](h).movedim(1, -1))

    add("normed_convolutions", nodes, modules, {"x": drawn(STEPS, 2, 7, 8, 2, seed=2)}, forward)


def sequence():
    nodes = [{"name": "a", "op": "conv1d", "filters": 4, "kernel": 3, "spectral_norm": {"axis": 1}, "activation": "tanh"},
             {"name": "u", "op": "conv1d", "filters": 2, "kernel": 2, "weight_norm": {"axis": 2}}, *END]
    first = nn.Conv1d(3, 4, 3)
    modules = {"a": nn.utils.parametrize.register_parametrization(first, "weight", nn.utils.parametrizations._SpectralNorm(first.weight, 1, 1)),
               "u": weight_norm(nn.Conv1d(4, 2, 2), dim=2)}
    add("normed_sequence", nodes, modules, {"x": drawn(STEPS, 3, 7, 3, seed=3)},
        lambda net, x: end(net["u"](torch.tanh(net["a"](x.movedim(-1, 1)))).movedim(1, -1)))


def shared():
    """Each use renews the vectors once, in order."""
    nodes = [{"name": "e", "op": "embedding", "in": "ids", "vocab": 5, "units": 4, "spectral_norm": True},
             {"name": "w", "op": "embedding", "in": "ids", "vocab": 5, "units": 4, "weight_norm": True},
             {"name": "h", "op": "add", "in": ["e", "w"]},
             {"name": "a", "op": "dense", "units": 4, "spectral_norm": True, "activation": "tanh"},
             {"name": "u", "op": "dense", "share": "a"}, *END]
    modules = {"e": spectral_norm(nn.Embedding(5, 4)), "w": weight_norm(nn.Embedding(5, 4)), "a": spectral_norm(nn.Linear(4, 4))}

    def forward(net, ids):
        h = net["e"](ids) + net["w"](ids)
        for _ in range(2):
            h = torch.tanh(net["a"](h))
        return end(h)

    ids = torch.randint(0, 5, (STEPS, 6), generator=torch.Generator().manual_seed(4))
    add("normed_shared", nodes, modules, {"ids": ids}, forward)


def second_order():
    """The gradient by the input is a function of the weights, too: a gradient penalty."""
    nodes = [{"name": "a", "op": "dense", "units": 5, "activation": "tanh", "spectral_norm": True},
             {"name": "s", "op": "dense", "units": 1, "bias": False, "weight_norm": True}, {"name": "total", "op": "sum"},
             {"name": "u", "op": "gradient", "in": ["total", "x"]}, *END]
    modules = {"a": spectral_norm(nn.Linear(3, 5)), "s": weight_norm(nn.Linear(5, 1, bias=False))}

    def forward(net, x):
        x = x.clone().requires_grad_()
        total = net["s"](torch.tanh(net["a"](x))).sum()
        return end(torch.autograd.grad(total, x, create_graph=True)[0])

    add("normed_second_order", nodes, modules, {"x": drawn(STEPS, 6, 3, seed=5)}, forward)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dense(), convolutions(), sequence(), shared(), second_order()
    write(HERE / "weight_norms.safetensors",
          {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_weight_norms.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
