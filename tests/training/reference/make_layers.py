#!/usr/bin/env python3
"""Makes PyTorch's numbers for layers: layers.safetensors beside this file.

    python3 make_layers.py    # needs torch and numpy; the stored file was made with torch 2.15.0 on a CPU

Random settings of each layer, everything in float64 from numbers that are float32. A case's tensors are called CASE/NAME:

  x, r              the layer's input, and what its result is multiplied with before it is summed: the loss
  start.P, grad.P   parameters and their gradients; grad.x
  y, eval           the result in training, and in evaluation where that differs
  start.B, next.B   buffers before and after

The metadata holds each case's layout and node, without name and input. Images of NHWC models have their channels last here.
"""
import json
import pathlib
import random
import struct

import numpy
import torch

HERE = pathlib.Path(__file__).parent
PICK = random.Random(8)


def channels_last(layout, v):
    return v.movedim(1, -1) if layout == "NHWC" else v


def channels_second(layout, v):
    return v.movedim(-1, 1) if layout == "NHWC" else v


def plain(layout, v):
    return v


def f32(t):
    return t.float().double()


class Case:
    """`shape` is PyTorch's; turn: whether the layer knows channels."""

    def __init__(self, node, module, shape, layout="NHWC", turn=True, scale=1.0, offset=0.0, seed=0):
        self.node, self.layout = node, layout
        self.to, self.back = (channels_second, channels_last) if turn else (plain, plain)
        self.module = module.double()
        generator = torch.Generator().manual_seed(seed)
        self.x = f32(torch.randn(shape, generator=generator).double() * scale + offset)
        with torch.no_grad():
            for v in [*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())]:
                v.copy_(f32(torch.rand(v.shape, generator=generator).double() * 1.5 - 0.5))
            for name, v in module.named_buffers():
                if name.endswith("var"):
                    v.copy_(f32(v.abs() + 0.1))
        self.generator = generator

    def tensors(self):
        out = {"start." + n: v.detach().clone() for n, v in self.named()}
        self.module.eval()
        evaluated = self.module(self.x).detach()
        self.module.train()
        x = self.x.clone().requires_grad_()
        y = self.module(x)
        r = f32(torch.randn(y.shape, generator=self.generator).double())
        (y * r).sum().backward()
        out["x"], out["grad.x"] = self.back(self.layout, x.detach()), self.back(self.layout, x.grad)
        out["r"], out["y"] = self.back(self.layout, r), self.back(self.layout, y.detach())
        if not torch.equal(evaluated, y):
            out["eval"] = self.back(self.layout, evaluated)
        out.update({"grad." + n: p.grad for n, p in self.module.named_parameters()})
        out.update({"next." + n: b.detach() for n, b in self.module.named_buffers()})
        return out

    def named(self):
        return [*self.module.named_parameters(), *self.module.named_buffers()]


def image(rank, channels):
    """Of few elements the gradient is nearly nothing, and the rounding of f32 all that is left of it."""
    while True:
        shape = (PICK.randint(2, 8), channels, *(PICK.randint(1, 5) for _ in range(rank - 2)))
        if numpy.prod(shape) // channels >= 7:
            return shape


def layout():
    return PICK.choice(["NHWC", "NCHW"])


def flags(module, scale, bias):
    """PyTorch has one flag for both."""
    if not scale:
        module.weight = None
    if not bias:
        module.bias = None
    return module


def eps():
    return PICK.choice([1e-5, 1e-3, 1e-7])


def batch_norms():
    kinds = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d, 5: torch.nn.BatchNorm3d}
    for k in range(8):
        rank, channels, e, momentum = 2 + k % 4, PICK.randint(1, 9), eps(), PICK.choice([0.1, 0.01, 0.5, 1.0])
        scale, bias = k != 3, k != 5
        module = flags(kinds[rank](channels, eps=e, momentum=momentum), scale, bias)
        node = {"op": "batch_norm", "eps": e, "momentum": momentum, "scale": scale, "bias": bias}
        yield Case(node, module, image(rank, channels), layout(), seed=k)
    # A mean far from zero: the difference of two means of squares would lose the variance in f32.
    yield Case({"op": "batch_norm"}, torch.nn.BatchNorm2d(3), (4, 3, 5, 5), scale=0.25, offset=8, seed=9)


def group_norms():
    for k in range(6):
        groups, width, e = PICK.randint(1, 4), PICK.randint(5, 8) if k % 3 == 0 else PICK.randint(1, 4), eps()
        scale, bias = k != 2, k != 4
        module = torch.nn.GroupNorm(groups, groups * width, eps=e)
        shape = image(2 + k % 3, groups * width)
        if k % 3:
            shape = (*shape[:2], *(PICK.randint(6, 8) for _ in shape[2:3]), *shape[3:])
        if not scale:
            torch.nn.init.ones_(module.weight)
        node = {"op": "group_norm", "groups": groups, "eps": e, "scale": scale, "bias": bias}
        yield Case(node, flags(module, scale, bias), shape, layout(), seed=20 + k)


def instance_norms():
    kinds = {3: torch.nn.InstanceNorm1d, 4: torch.nn.InstanceNorm2d, 5: torch.nn.InstanceNorm3d}
    for k in range(5):
        rank, channels, e, affine = 3 + k % 3, PICK.randint(1, 5), eps(), k % 2 == 1
        shape = (2, channels, *(PICK.randint(7, 9) if rank == 3 else PICK.randint(3, 4) for _ in range(rank - 2)))
        node = {"op": "instance_norm", "eps": e, "scale": affine, "bias": affine}
        yield Case(node, kinds[rank](channels, eps=e, affine=affine), shape, layout(), seed=40 + k)


def rms_norms():
    for k in range(4):
        shape = [(3, 7), (2, 3, 5), (1, 4), (2, 2, 3, 9)][k]
        e = [None, 1e-5, 1e-3, None][k]
        # PyTorch's default is that of the input's type: f32 in a model.
        module = torch.nn.RMSNorm(shape[-1], eps=torch.finfo(torch.float32).eps if e is None else e, elementwise_affine=k != 2)
        node = {"op": "rms_norm", "scale": k != 2, **({} if e is None else {"eps": e})}
        yield Case(node, module, shape, turn=False, seed=60 + k)


def running():
    """Statistics after 20 batches of 5 rows."""
    x = f32(torch.randn((20, 5, 3), generator=torch.Generator().manual_seed(90)).double() * 3 + 1)
    module = torch.nn.BatchNorm1d(3).double()
    for batch in x:
        module(batch)
    return {"x": x, "mean": module.running_mean, "var": module.running_var, "batches": module.num_batches_tracked}


FAMILIES = [batch_norms, group_norms, instance_norms, rms_norms]


def write(path, tensors, metadata):
    names = {numpy.dtype("int64"): "I64", numpy.dtype("float64"): "F64"}
    header, at = {"__metadata__": metadata}, 0
    for name, a in tensors.items():
        header[name] = dict(dtype=names[a.dtype], shape=list(a.shape), data_offsets=[at, at + a.nbytes])
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a in tensors.values():
            f.write(numpy.ascontiguousarray(a).tobytes())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tensors, cases = {}, {}
    for family in FAMILIES:
        for k, case in enumerate(family()):
            name = f"{case.node['op']}_{k}"
            cases[name] = f"{case.layout} {json.dumps(case.node)}"
            tensors.update({f"{name}/{n}": v.contiguous().numpy() for n, v in case.tensors().items()})
    tensors.update({f"running/{n}": v.contiguous().numpy() for n, v in running().items()})
    write(HERE / "layers.safetensors", tensors, {"note": f"torch {torch.__version__.split('+')[0]}, see make_layers.py", **cases})
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
