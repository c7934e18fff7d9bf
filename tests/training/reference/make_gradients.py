#!/usr/bin/env python3
"""Makes PyTorch's numbers for gradients that are values, and for what says where gradients go: gradients.safetensors beside this file.

    python3 make_gradients.py    # needs torch and numpy; the stored file was made with torch 2.15.0

Everything in float64 from numbers that are float32. The metadata holds each case's whole model. A case's tensors:

  CASE/in.INPUT      an input
  CASE/start.P       a parameter
  CASE/loss          the loss, and grad.P its gradients: the model descends by them, with a rate of 1
  CASE/out.NAME      what a prediction returns
"""
import json
import pathlib

import torch

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
CASES = {}


def drawn(*shape, seed):
    return f32(torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double())


def grad(u, x):
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


NET = [{"name": "fc", "op": "dense", "in": "x", "units": 5, "activation": "tanh"}, {"name": "u", "op": "dense", "units": 1}]


def net(p, x):
    return torch.tanh(x @ p["fc.weight"].T + p["fc.bias"]) @ p["u.weight"].T + p["u.bias"]


def add(name, nodes, build, more=()):
    """`build` gives the loss and the outputs from parameters and x; `nodes` follow the network, and make "end"."""
    start = {"fc.weight": drawn(5, 3, seed=1), "fc.bias": drawn(5, seed=2), "u.weight": drawn(1, 5, seed=3), "u.bias": drawn(1, seed=4)}
    x = drawn(6, 3, seed=5)
    p = {n: v.clone().requires_grad_() for n, v in start.items()}
    loss, outputs = build(p, x.clone().requires_grad_())
    loss.backward()
    trained = {n: v.grad for n, v in p.items() if v.grad is not None}
    model = {"format": "heddle-model/1", "name": "m", "inputs": {"x": {"shape": ["N", 3]}}, "nodes": [*NET, *nodes],
             "outputs": {n: n for n in outputs},
             "train": {"batch": {"N": 6}, "steps": 1, "loss": {"op": "value", "in": "end"}, "optimizer": {"op": "sgd", "lr": 1}}}
    CASES[name] = model, {"in.x": x, "loss": loss.detach(), **{"start." + n: v for n, v in start.items()},
                          **{"grad." + n: v for n, v in trained.items()}, **{"out." + n: v.detach() for n, v in outputs.items()}}


def equation():
    def build(p, x):
        u = net(p, x)
        slope = grad(u, x)
        curve = grad(slope[:, :1], x)
        return ((slope[:, 1:2] - curve[:, :1] + u) ** 2).mean(), {"slope": slope, "curve": curve}

    add("equation", [
        {"name": "slope", "op": "gradient", "in": ["u", "x"]}, {"name": "a", "op": "slice", "axis": 1, "stop": 1},
        {"name": "b", "op": "slice", "in": "slope", "axis": 1, "start": 1, "stop": 2},
        {"name": "curve", "op": "gradient", "in": ["a", "x"]}, {"name": "aa", "op": "slice", "axis": 1, "stop": 1},
        {"name": "c", "op": "sub", "in": ["b", "aa"]}, {"name": "r", "op": "add", "in": ["c", "u"]}, {"name": "r2", "op": "square"},
        {"name": "end", "op": "mean"}], build)


def penalty():
    def build(p, x):
        u = net(p, x)
        slope = grad(u, x)
        return ((slope.norm(dim=1) - 1) ** 2).mean() * 10 + u.mean(), {"slope": slope}

    add("penalty", [
        {"name": "slope", "op": "gradient", "in": ["u", "x"]}, {"name": "q", "op": "square"}, {"name": "s", "op": "sum", "axis": 1},
        {"name": "n", "op": "sqrt"}, {"name": "off", "op": "sub", "in": ["n", 1]}, {"name": "o2", "op": "square"},
        {"name": "o", "op": "mean"}, {"name": "ten", "op": "mul", "in": ["o", 10]}, {"name": "m", "op": "mean", "in": "u"},
        {"name": "end", "op": "add", "in": ["ten", "m"]}], build)


def product_with_the_hessian():
    def build(p, x):
        e = (net(p, x) ** 2).mean()
        g = grad(e, p["fc.weight"])
        product = grad((g * torch.sin(p["fc.weight"]).detach()).sum(), p["fc.weight"])
        return (product**2).sum(), {"g": g, "product": product}

    add("product_with_the_hessian", [
        {"name": "u2", "op": "square", "in": "u"}, {"name": "e", "op": "mean"}, {"name": "g", "op": "gradient", "in": ["e", "fc.weight"]},
        {"name": "v", "op": "sin", "in": "fc.weight"}, {"name": "v0", "op": "stop_gradient"}, {"name": "gv", "op": "mul", "in": ["g", "v0"]},
        {"name": "along", "op": "sum"}, {"name": "product", "op": "gradient", "in": ["along", "fc.weight"]}, {"name": "p2", "op": "square"},
        {"name": "end", "op": "sum"}], build)


def flow():
    class Turned(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return x.clone()

        @staticmethod
        def backward(_, dy):
            return -0.5 * dy

    class Clipped(torch.autograd.Function):
        @staticmethod
        def forward(_, x):
            return x.clone()

        @staticmethod
        def backward(_, dy):
            return dy.clamp(-0.1, 0.1)

    def build(p, x):
        u = net(p, x)
        hard = u + (u.round() - u).detach()
        turned, clipped = Turned.apply(u), Clipped.apply(u)
        return (hard**2 + turned * hard.detach() + torch.exp(clipped) * 0.3).mean(), {"hard": hard}

    add("flow", [
        {"name": "r", "op": "round", "in": "u"}, {"name": "hard", "op": "straight_through", "in": ["r", "u"]},
        {"name": "turned", "op": "scale_gradient", "in": "u", "scale": -0.5}, {"name": "clipped", "op": "clip_gradient", "in": "u", "limit": 0.1},
        {"name": "h2", "op": "square", "in": "hard"}, {"name": "h0", "op": "stop_gradient", "in": "hard"},
        {"name": "th", "op": "mul", "in": ["turned", "h0"]}, {"name": "e", "op": "exp", "in": "clipped"}, {"name": "e3", "op": "mul", "in": ["e", 0.3]},
        {"name": "s", "op": "add", "in": ["h2", "th"]}, {"name": "s2", "op": "add", "in": ["s", "e3"]}, {"name": "end", "op": "mean"}], build)


if __name__ == "__main__":
    torch.set_num_threads(1)
    equation(), penalty(), product_with_the_hessian(), flow()
    write(HERE / "gradients.safetensors", {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_gradients.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
