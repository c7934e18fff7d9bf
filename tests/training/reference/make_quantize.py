#!/usr/bin/env python3
"""Makes PyTorch's numbers for train.quantize: quantize.safetensors beside this file.

    python3 make_quantize.py    # needs torch and numpy; the stored file was made with torch 2.15.0

Fake quantization of weights (for each output) and of what they multiply, with ranges as MinMaxObserver and MovingAverageMinMaxObserver of torch.ao
have them, of numbers from 0 on, and the scales of `heddle quantize`. Here all of it is float64, where those compute scales in float32;
`check` compares values, gradients and ranges with torch.ao's own in float32. Plain descent from numbers that are float32. Tensors are called as in
make_shared.py.
"""
import json
import pathlib

import torch
from torch import nn
from torch.ao.quantization import MinMaxObserver, MovingAverageMinMaxObserver

import make_shared
from make_layers import write
from make_shared import CASES, drawn

HERE = pathlib.Path(__file__).parent
END = [{"name": "u2", "op": "square", "in": "u"}, {"name": "end", "op": "mean"}]
LEAST = torch.finfo(torch.float32).tiny
MOMENTUM = 0.01


class Whole(torch.autograd.Function):
    """round(x * (1 / step)), or x / step, held to limits, times step; a gradient of 1 where the rounded number lies inside."""
    @staticmethod
    def forward(ctx, x, step, low, high, divides):
        rounded = torch.round(x / step if divides else x * (1 / step))
        ctx.save_for_backward((rounded >= low) & (rounded <= high))
        return rounded.clamp(low, high) * step

    @staticmethod
    def backward(ctx, dy):
        return dy * ctx.saved_tensors[0], None, None, None, None


def of_weight(w):
    largest = w.detach().abs().flatten(1).amax(1)
    return Whole.apply(w, (largest / 127).clamp(min=LEAST).reshape(-1, *[1] * (w.dim() - 1)), -127, 127, True)


def scale_of(low, high):
    limits = (0, 255) if low >= 0 else (-128, 127)
    return (max(abs(low), abs(high)) / limits[1]).clamp(min=LEAST), *limits


class Observed(nn.Module):
    """A dense layer or a convolution whose weight and inputs are whole numbers."""
    def __init__(self, layer, rule, names):
        super().__init__()
        self.layer, self.rule, self.names, self.now = layer, rule, names, True
        self.register_buffer("low", torch.zeros(()))
        self.register_buffer("high", torch.zeros(()))

    def observe(self, x):
        least, most = x.detach().amin().clamp(max=0), x.detach().amax().clamp(min=0)
        if self.rule.get("observer") != "moving_average":
            self.low, self.high = torch.minimum(self.low, least), torch.maximum(self.high, most)
        elif self.low == 0 and self.high == 0:
            self.low, self.high = least, most
        else:
            c = self.rule.get("momentum", MOMENTUM)
            self.low, self.high = self.low + c * (least - self.low), self.high + c * (most - self.high)

    def forward(self, x):
        if self.training:
            self.observe(x)
        if not self.now and self.training:
            return self.layer(x)
        q = Whole.apply(x, *scale_of(self.low, self.high), False)
        return torch.func.functional_call(self.layer, {"weight": of_weight(self.layer.weight)}, (q,))


def add(name, nodes, net, x, rule, steps):
    layers = [m for m in net.modules() if isinstance(m, Observed)]

    def begin(k):
        for layer in layers:
            layer.now = k >= rule.get("start", 0)

    def names(n):
        path, end = n.rsplit(".", 1)
        return {"low": path + ".weight.observed_low", "high": path + ".weight.observed_high"}.get(end, n.replace(".layer.", "."))

    def forward(v):
        u = net(v)
        return (u ** 2).mean(), {"u": u}

    begin(0)
    make_shared.add(name, {"nodes": [*nodes, *END]}, net, {"x": x}, forward, names, steps=steps, renew=lambda k: begin(k + 1))
    CASES[name][0]["train"]["quantize"] = {"match": "*.weight", **rule}


class Dense(nn.Module):
    def __init__(self, rule):
        super().__init__()
        self.a, self.u = Observed(nn.Linear(8, 5), rule, "a"), Observed(nn.Linear(5, 3), rule, "u")

    def forward(self, x):
        return self.u(torch.relu(self.a(x)))


class Twice(nn.Module):
    def __init__(self, rule):
        super().__init__()
        self.a, self.u = Observed(nn.Linear(6, 6), rule, "a"), Observed(nn.Linear(6, 3, bias=False), rule, "u")

    def forward(self, x):
        return self.u(torch.tanh(self.a(torch.tanh(self.a(x)))))


class Filters(nn.Module):
    def __init__(self, rule):
        super().__init__()
        self.c, self.u = Observed(nn.Conv2d(4, 6, 3, padding=1), rule, "c"), Observed(nn.Conv2d(6, 4, 2), rule, "u")

    def forward(self, x):
        return self.u(torch.relu(self.c(x.permute(0, 3, 1, 2)))).permute(0, 2, 3, 1)


DENSE = [{"name": "a", "op": "dense", "units": 5, "activation": "relu"}, {"name": "u", "op": "dense", "units": 3}]
TWICE = [{"name": "a", "op": "dense", "units": 6, "activation": "tanh"}, {"op": "dense", "share": "a"}, {"name": "u", "op": "dense", "units": 3, "bias": False}]
FILTERS = [{"name": "c", "op": "conv2d", "filters": 6, "kernel": 3, "pad": "same", "activation": "relu"}, {"name": "u", "op": "conv2d", "filters": 4, "kernel": 2}]


def near(a, b):
    assert torch.allclose(a.double(), b.double(), rtol=1e-6, atol=1e-7), (a, b)


def check():
    """What is written above is what torch.ao computes, with these scales."""
    x, w, dy = drawn(40, 9, seed=70).float() * 2, drawn(7, 9, seed=71).float(), drawn(40, 9, seed=72).float()
    for shift in (0, 3):
        v = (x - x.min() if shift else x).requires_grad_()
        step, low, high = scale_of(v.detach().amin().clamp(max=0) * 0.8, v.detach().amax() * 0.8)
        ours = Whole.apply(v, step, low, high, False)
        theirs = torch.fake_quantize_per_tensor_affine(v, float(step), 0, low, high)
        near(ours, theirs)
        near(*(torch.autograd.grad(y, v, dy)[0] for y in (ours, theirs)))
    near(of_weight(w), torch.fake_quantize_per_channel_affine(w, w.abs().amax(1) / 127, torch.zeros(7, dtype=torch.int32), 0, -127, 127))
    for rule, observer in (({}, MinMaxObserver()), ({"observer": "moving_average"}, MovingAverageMinMaxObserver(averaging_constant=MOMENTUM))):
        own = Observed(nn.Linear(9, 7), rule, "a")
        for k in range(5):
            own.observe(x * (k % 3 + 1))
            observer(x * (k % 3 + 1))
        near(own.low, observer.min_val)
        near(own.high, observer.max_val)


if __name__ == "__main__":
    torch.set_num_threads(1)
    check()
    for name, rule, steps in (("quantize_dense", {}, 4), ("quantize_start", {"start": 2}, 4),
                              ("quantize_moving", {"observer": "moving_average", "momentum": 0.25}, 5)):
        add(name, DENSE, Dense(rule), drawn(steps, 6, 8, seed=len(name)), rule, steps)
    add("quantize_twice", TWICE, Twice({}), drawn(3, 5, 6, seed=44), {}, 3)
    add("quantize_filters", FILTERS, Filters({}), drawn(3, 2, 5, 5, 4, seed=45), {}, 3)
    write(HERE / "quantize.safetensors",
          {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_quantize.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
