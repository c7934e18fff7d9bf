#!/usr/bin/env python3
"""Makes PyTorch's numbers for low-rank adapters: lora.safetensors beside this file.

    python3 make_lora.py    # needs torch, numpy and peft; the stored file was made with torch 2.15.0 and peft 0.21.2

Layers that PEFT adapts, whose state dicts name adapters as Heddle's files do; and layers that read a whole adapted weight, by W + alpha / rank
B A. Three steps of plain descent, everything in float64 from numbers that are float32: no B begins with zeros, so that A has gradients.
Tensors are called as in make_shared.py.
"""
import json
import pathlib

import torch
from peft import LoraConfig, get_peft_model
from torch import nn

import make_shared
from make_layers import write
from make_shared import CASES, drawn

HERE = pathlib.Path(__file__).parent
STEPS, RANK, ALPHA = 3, 2, 3
END = [{"name": "u2", "op": "square", "in": "u"}, {"name": "end", "op": "mean"}]


def end(u):
    return (u ** 2).mean(), {"u": u}


def name_of(n):
    n = n.removeprefix("base_model.model.")
    return n.replace(".default", "") if ".lora_" in n else n.replace(".base_layer", "")


def add(name, nodes, net, inputs, forward, match, names=name_of):
    make_shared.add(name, {"nodes": [*nodes, *END]}, net, inputs, forward, names, STEPS)
    CASES[name][0]["train"]["lora"] = {"rank": RANK, "alpha": ALPHA, "match": match}


def by_peft(net, targets):
    return get_peft_model(net, LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=targets))


def layers():
    net = nn.Module()
    net.e, net.a, net.u = nn.Embedding(7, 4), nn.Linear(4, 5), nn.Linear(5, 3)
    net = by_peft(net, ["e", "a"])

    def forward(i):
        base = net.base_model.model
        return end(base.u(torch.tanh(base.a(base.e(i)))))

    nodes = [{"name": "e", "op": "embedding", "vocab": 7, "units": 4}, {"name": "a", "op": "dense", "units": 5, "activation": "tanh"},
             {"name": "u", "op": "dense", "units": 3}]
    ids = torch.randint(0, 7, (STEPS, 6, 3), generator=torch.Generator().manual_seed(1))
    add("lora_layers", nodes, net, {"i": ids}, forward, ["e", "a.weight"])


class Adapted(nn.Module):
    """A module of which some weights are adapted, as parameters under Heddle's names."""
    def __init__(self, net, prefix, weights):
        super().__init__()
        self.net, self.prefix, self.weights = net, prefix, weights
        self.thin = nn.ParameterDict()
        for p in net.parameters():
            p.requires_grad_(False)
        for w in weights:
            out, width = net.get_parameter(w).shape
            self.thin[w.replace(".", "/") + "/A"] = nn.Parameter(torch.zeros(RANK, width))
            self.thin[w.replace(".", "/") + "/B"] = nn.Parameter(torch.zeros(out, RANK))

    def names(self, n):
        if n.startswith("net."):
            return self.prefix + n.removeprefix("net.")
        weight, which = n.removeprefix("thin.").replace("/", ".").rsplit(".", 1)
        return f"{self.prefix}{weight.removesuffix('.weight')}.lora_{which}.weight"

    def forward(self, *args):
        def whole(w):
            key = w.replace(".", "/")
            return self.net.get_parameter(w) + ALPHA / RANK * self.thin[key + "/B"] @ self.thin[key + "/A"]
        return torch.func.functional_call(self.net, {w: whole(w) for w in self.weights}, args)


def attention():
    """Under PEFT's names, but not by its module, which in 0.21.2 adds the change of out_proj twice."""
    net = Adapted(nn.MultiheadAttention(4, 2, batch_first=True), "u.", ["in_proj_weight", "out_proj.weight"])

    def names(n):
        return net.names(n).replace("in_proj_weight.lora", "lora").replace("out_proj.lora", "base_layer.out_proj.lora")

    add("lora_attention", [{"name": "u", "op": "multi_head_attention", "heads": 2}], net, {"x": drawn(STEPS, 3, 5, 4, seed=2)},
        lambda x: end(net(x, x, x)[0]), ["*"], names)


def recurrent():
    """The state's weight is read in each step, and the one of `gru` in two parts."""
    for op, module, more in (("lstm", nn.LSTM, ["h", "c"]), ("gru", nn.GRU, ["h"])):
        net = Adapted(module(3, 4, batch_first=True), "l.", ["weight_ih_l0", "weight_hh_l0"])
        add("lora_" + op, [{"name": "l", "op": op, "units": 4, "out": ["u", *more], **({"reset": "after"} if op == "gru" else {})}], net,
            {"x": drawn(STEPS, 4, 5, 3, seed=3)}, lambda x: end(net(x)[0]), ["l"], net.names)


def products():
    """A parameter that is a value, multiplied from both sides and by its rows."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.zeros(4, 4))

        def forward(self, x):
            return torch.tanh(x @ self.w) @ self.w.T + self.w[0]

    net = Adapted(Net(), "", ["w"])
    nodes = [{"name": "w", "op": "param", "shape": [4, 4]}, {"name": "a", "op": "matmul", "in": ["x", "w"]}, {"name": "t", "op": "tanh"},
             {"name": "b", "op": "matmul", "in": ["t", "w"], "transpose_b": True},
             {"name": "first", "op": "slice", "in": "w", "axis": 0, "start": 0, "stop": 1}, {"name": "u", "op": "add", "in": ["b", "first"]}]
    add("lora_products", nodes, net, {"x": drawn(STEPS, 6, 4, seed=4)}, lambda x: end(net(x)), ["w"], net.names)


if __name__ == "__main__":
    torch.set_num_threads(1)
    layers(), attention(), recurrent(), products()
    write(HERE / "lora.safetensors",
          {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_lora.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
