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
from torch.nn import functional as F

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


def sides(rank, low, high):
    return [PICK.randint(low, high) for _ in range(rank)]


def one_or_all(values):
    return values[0] if len(set(values)) == 1 else values


def convolutions(rank, kind, op):
    for k in range(6):
        groups = PICK.choice([1, 1, 2, 3])
        channels, filters = groups * PICK.randint(1, 3), groups * PICK.randint(1, 3)
        kernel, stride, dilation, pad = sides(rank, 1, 3), sides(rank, 1, 3), sides(rank, 1, 2), sides(rank, 0, 2)
        module = kind(channels, filters, kernel, stride, pad, dilation, groups, bias=k != 2)
        node = {"op": op, "filters": filters, "kernel": one_or_all(kernel), "stride": one_or_all(stride), "pad": one_or_all(pad),
                "dilation": one_or_all(dilation), "groups": groups, "bias": k != 2}
        yield Case(node, module, (2, channels, *sides(rank, 6, 9)), layout(), seed=100 + 10 * rank + k)


def conv1ds():
    yield from convolutions(1, torch.nn.Conv1d, "conv1d")
    module = torch.nn.Conv1d(2, 4, 3, padding="same")
    yield Case({"op": "conv1d", "filters": 4, "kernel": 3, "pad": "same"}, module, (3, 2, 7), seed=1)


def conv2ds():
    yield from convolutions(2, torch.nn.Conv2d, "conv2d")


def depthwise():
    for k in range(4):
        channels, multiplier = PICK.randint(2, 4), PICK.randint(1, 3)
        kernel, stride = PICK.randint(1, 3), PICK.randint(1, 2)
        module = torch.nn.Conv2d(channels, channels * multiplier, kernel, stride, 1, groups=channels, bias=k != 1)
        node = {"op": "depthwise_conv2d", "multiplier": multiplier, "kernel": kernel, "stride": stride, "pad": 1, "bias": k != 1}
        yield Case(node, module, (2, channels, *sides(2, 5, 8)), layout(), seed=130 + k)


class Separable(torch.nn.Module):
    def __init__(self, channels, multiplier, filters, kernel):
        super().__init__()
        self.depthwise = torch.nn.Conv2d(channels, channels * multiplier, kernel, groups=channels, bias=False)
        self.pointwise = torch.nn.Conv2d(channels * multiplier, filters, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


def separable():
    for k in range(3):
        channels, multiplier, filters, kernel = PICK.randint(1, 4), PICK.randint(1, 2), PICK.randint(1, 5), PICK.randint(2, 3)
        node = {"op": "separable_conv2d", "filters": filters, "multiplier": multiplier, "kernel": kernel}
        yield Case(node, Separable(channels, multiplier, filters, kernel), (2, channels, *sides(2, 4, 7)), layout(), seed=140 + k)


def transposed():
    for k in range(8):
        groups = PICK.choice([1, 1, 2])
        channels, filters = groups * PICK.randint(1, 3), groups * PICK.randint(1, 3)
        kernel, stride, dilation = sides(2, 2, 4), sides(2, 1, 3), sides(2, 1, 2)
        pad, more = [PICK.randint(0, size - 1) for size in kernel], [PICK.randint(0, step - 1) for step in stride]
        module = torch.nn.ConvTranspose2d(channels, filters, kernel, stride, pad, more, groups, k != 3, dilation)
        node = {"op": "conv2d_transpose", "filters": filters, "kernel": one_or_all(kernel), "stride": one_or_all(stride),
                "pad": one_or_all(pad), "output_padding": one_or_all(more), "dilation": one_or_all(dilation), "groups": groups,
                "bias": k != 3}
        yield Case(node, module, (2, channels, *sides(2, 4, 6)), layout(), seed=150 + k)


def pools():
    for k in range(6):
        window, stride = PICK.randint(2, 3), PICK.randint(1, 3)
        pad, include = PICK.randint(0, window // 2), k != 3
        node = {"op": "avg_pool1d" if k % 2 else "max_pool1d", "window": window, "stride": stride, "pad": pad}
        if k % 2:
            node["count_include_pad"] = include
            module = torch.nn.AvgPool1d(window, stride, pad, count_include_pad=include)
        else:
            module = torch.nn.MaxPool1d(window, stride, pad)
        yield Case(node, module, (2, 3, PICK.randint(6, 9)), layout(), seed=170 + k)


def upsamplings():
    for k in range(6):
        scale, mode = sides(2, 1, 4), "bilinear" if k % 2 else "nearest"
        node = {"op": "upsample2d", "scale": one_or_all(scale), "mode": mode}
        module = torch.nn.Upsample(scale_factor=tuple(scale), mode=mode)
        yield Case(node, module, (2, PICK.randint(1, 3), *sides(2, 1, 5)), layout(), seed=180 + k)


def gates():
    yield Case({"op": "prelu"}, torch.nn.PReLU(), (3, 4, 5), turn=False, seed=190)
    for k, shape in enumerate([(3, 4), (2, 3, 5), (2, 5, 3, 2)]):
        yield Case({"op": "prelu", "per_channel": True}, torch.nn.PReLU(shape[1]), shape, layout(), seed=191 + k)
    yield Case({"op": "glu"}, torch.nn.GLU(), (3, 6), turn=False, seed=195)
    yield Case({"op": "glu", "axis": 1}, torch.nn.GLU(1), (2, 4, 3), turn=False, seed=196)


def dilated_pools():
    for k in range(4):
        window, stride, dilation = sides(2, 2, 3), sides(2, 1, 3), sides(2, 1, 3)
        pad = [PICK.randint(0, size // 2) for size in window]
        node = {"op": "max_pool2d", "window": one_or_all(window), "stride": one_or_all(stride), "pad": one_or_all(pad),
                "dilation": one_or_all(dilation)}
        module = torch.nn.MaxPool2d(window, stride, pad, dilation)
        yield Case(node, module, (2, PICK.randint(1, 3), *sides(2, 7, 9)), layout(), seed=200 + k)


def resizes():
    for k in range(8):
        size, mode, corners = sides(2, 1, 9), ["nearest", "bilinear", "bicubic", "bilinear"][k % 4], k % 4 == 3 or k == 6
        node = {"op": "resize2d", "size": one_or_all(size), "mode": mode, "align_corners": corners}
        module = torch.nn.Upsample(size=tuple(size), mode=mode, align_corners=corners if mode != "nearest" else None)
        yield Case(node, module, (2, PICK.randint(1, 3), *sides(2, 2, 7)), layout(), seed=210 + k)
    module = torch.nn.Upsample(scale_factor=3, mode="bicubic", align_corners=True)
    yield Case({"op": "upsample2d", "scale": 3, "mode": "bicubic", "align_corners": True}, module, (2, 2, 3, 4), layout(), seed=219)


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def prefixes():
    first = {"cummax": lambda x, d: torch.cummax(x, d)[0], "cummin": lambda x, d: torch.cummin(x, d)[0]}
    for k in range(6):
        op, axis = ["cumsum", "cumprod", "cummax", "cummin", "cumsum", "cumprod"][k], PICK.randint(-2, 2)
        function = first.get(op) or getattr(torch, op)
        node = {"op": op, "axis": axis, **({"reverse": True} if k > 3 else {})}
        turn = (lambda x, f=function, a=axis: f(x.flip(a), a).flip(a)) if k > 3 else (lambda x, f=function, a=axis: f(x, a))
        yield Case(node, Function(turn), (3, *sides(2, 3, 9)), turn=False, seed=230 + k)


def products():
    for k in range(3):
        shape, units = [(4, 5), (2, 3, 7), (1, 1)][k], PICK.randint(1, 6)
        yield Case({"op": "dense", "units": units, "bias": k != 1}, torch.nn.Linear(shape[-1], units, bias=k != 1), shape, turn=False, seed=240 + k)


def layer_norms():
    for k in range(4):
        shape, scale, bias = [(3, 7), (2, 3, 8), (9, 6), (2, 2, 3, 9)][k], k != 2, k != 1
        module = flags(torch.nn.LayerNorm(shape[-1], eps=1e-3), scale, bias)
        yield Case({"op": "layer_norm", "eps": 1e-3, "scale": scale, "bias": bias}, module, shape, turn=False, seed=250 + k)


def softmaxes():
    for k in range(4):
        axis, op = PICK.randint(-2, 1), "log_softmax" if k % 2 else "softmax"
        module = torch.nn.LogSoftmax(axis) if k % 2 else torch.nn.Softmax(axis)
        yield Case({"op": op, "axis": axis}, module, (3, *sides(2, 2, 7)), turn=False, scale=2.0, seed=260 + k)


def average_pools():
    for k in range(4):
        window, stride, include = sides(2, 2, 3), sides(2, 1, 3), k % 2 == 0
        pad = [PICK.randint(0, size // 2) for size in window]
        node = {"op": "avg_pool2d", "window": one_or_all(window), "stride": one_or_all(stride), "pad": one_or_all(pad),
                "count_include_pad": include}
        module = torch.nn.AvgPool2d(window, stride, pad, count_include_pad=include)
        yield Case(node, module, (2, PICK.randint(1, 3), *sides(2, 5, 8)), layout(), seed=270 + k)
    for op, function in (("global_avg_pool", lambda x: x.mean((2, 3))), ("global_max_pool", lambda x: x.amax((2, 3)))):
        for where in ("NHWC", "NCHW"):
            yield Case({"op": op}, Function(function), (2, 3, *sides(2, 2, 5)), where, seed=275)


def adaptive_pools():
    """Smaller and larger than the input, dividing it or not; of rounded inputs, in which largest elements are equal."""
    for k, rank in enumerate([2] * 8 + [1] * 3 + [3] * 3):
        op = "max" if k % 2 else "avg"
        shape, size = sides(rank, 2, 9), sides(rank, 1, 7)
        if k in (4, 5):
            shape = [2 * side for side in size]
        module = getattr(torch.nn, f"Adaptive{op.capitalize()}Pool{rank}d")(size)
        case = Case({"op": f"adaptive_{op}_pool{rank}d", "size": one_or_all(size)}, module, (2, 3, *shape), layout(), seed=350 + k)
        case.x = case.x.round() if k % 4 == 1 else case.x
        yield case


# PyTorch's own hard sigmoid has a sixth of float32 in float64, too.
ACTIVATIONS = {
    "relu": F.relu, "leaky_relu": F.leaky_relu, "elu": F.elu, "selu": F.selu, "celu": F.celu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "softplus": F.softplus, "softsign": F.softsign,
    "mish": F.mish, "hard_sigmoid": lambda x: F.relu6(x + 3) / 6, "hard_swish": F.hardswish, "relu6": F.relu6, "log_sigmoid": F.logsigmoid,
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "exp": torch.exp, "abs": torch.abs, "neg": torch.neg, "sin": torch.sin,
    "cos": torch.cos, "tan": torch.tan, "atan": torch.atan, "asinh": torch.asinh, "sinh": torch.sinh, "cosh": torch.cosh,
    "erf": torch.erf, "erfc": torch.erfc, "expm1": torch.expm1, "square": torch.square,
}
SETTINGS = {"leaky_relu": ({"slope": 0.2}, lambda x: F.leaky_relu(x, 0.2)), "elu": ({"alpha": 0.5}, lambda x: F.elu(x, 0.5)),
            "celu": ({"alpha": 1.5}, lambda x: F.celu(x, 1.5)), "clamp": ({"low": -0.5, "high": 1}, lambda x: x.clamp(-0.5, 1))}


def activations():
    for k, (op, function) in enumerate(ACTIVATIONS.items()):
        yield Case({"op": op}, Function(function), (3, PICK.randint(4, 9)), turn=False, scale=2.0, seed=280 + k)
    for k, (op, (settings, function)) in enumerate(SETTINGS.items()):
        yield Case({"op": op, **settings}, Function(function), (3, 7), turn=False, scale=2.0, seed=320 + k)


def reductions():
    kinds = {"sum": torch.sum, "mean": torch.mean, "prod": torch.prod, "max": torch.amax, "min": torch.amin}
    for k, (op, function) in enumerate(kinds.items()):
        axis, keep = PICK.choice([-2, -1, 1, 2]), bool(k % 2)
        yield Case({"op": op, "axis": axis, "keepdims": keep}, Function(lambda x, f=function, a=axis, d=keep: f(x, dim=a, keepdim=d)),
                   (3, *sides(2, 2, 5)), turn=False, seed=330 + k)
    for k in range(2):
        axis, down = PICK.randint(-2, 2), bool(k)
        yield Case({"op": "sort", "axis": axis, "descending": down}, Function(lambda x, a=axis, d=down: x.sort(a, descending=d)[0]),
                   (3, *sides(2, 3, 6)), turn=False, seed=340 + k)
    yield Case({"op": "einsum", "equation": "abc->ac"}, Function(lambda x: x.sum(1)), (2, 3, 4), turn=False, seed=345)


def running():
    """Statistics after 20 batches of 5 rows."""
    x = f32(torch.randn((20, 5, 3), generator=torch.Generator().manual_seed(90)).double() * 3 + 1)
    module = torch.nn.BatchNorm1d(3).double()
    for batch in x:
        module(batch)
    return {"x": x, "mean": module.running_mean, "var": module.running_var, "batches": module.num_batches_tracked}


FAMILIES = [batch_norms, group_norms, instance_norms, rms_norms, conv1ds, conv2ds, depthwise, separable, transposed, pools,
            upsamplings, gates, dilated_pools, resizes, prefixes, products, layer_norms, softmaxes, average_pools, activations,
            reductions, adaptive_pools]


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
        for case in family():
            op = case.node["op"]
            name = f"{op}_{sum(other.startswith(op + '_') for other in cases)}"
            cases[name] = f"{case.layout} {json.dumps(case.node)}"
            tensors.update({f"{name}/{n}": v.contiguous().numpy() for n, v in case.tensors().items()})
    tensors.update({f"running/{n}": v.contiguous().numpy() for n, v in running().items()})
    write(HERE / "layers.safetensors", tensors, {"note": f"torch {torch.__version__.split('+')[0]}, see make_layers.py", **cases})
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
