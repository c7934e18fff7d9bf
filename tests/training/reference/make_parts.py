#!/usr/bin/env python3
"""Makes the numbers of losses and layers of several inputs, by PyTorch, and of metrics, by scikit-learn: parts.safetensors beside
this file.

    python3 make_parts.py    # needs torch and scikit-learn; the stored file was made with torch 2.15.0 and scikit-learn 1.9.1

Random settings, everything in float64 from numbers that are float32. The metadata holds each case's whole model. A case's tensors:

  CASE/in.INPUT    an input: of as many batches as the first axis is long, which is not the input's
  CASE/start.P     a parameter: what a loss or a layer reads is an input of zeros plus a parameter
  CASE/loss        the loss of the first batch, and grad.P its gradients: the model descends by them, with a rate of 1
  CASE/metrics     the values of the metrics, of all batches

A layer's loss is the sum of its result times a parameter q, so the gradient of q is the result. focal, dice, tversky, quantile and
ciou, which PyTorch has not, are their formulas in PyTorch, and their gradients its own; those of focal and ciou are torchvision's.
"""
import json
import pathlib
import random

import numpy
import sklearn
import sklearn.metrics as m
import torch
from torch.nn import functional as F

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
PICK = random.Random(31)
CASES = {}  # name -> (model, tensors)
IGNORED = -100


def drawn(*shape, seed, scale=1.0):
    return f32(torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double() * scale)


def integers(high, *shape, seed):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed))


def exact(low, high):
    """Which f32 holds."""
    return round(PICK.uniform(low, high) * 64) / 64


def add(kind, inputs, nodes, train, tensors):
    name = f"{kind}_{sum(other.rsplit('_', 1)[0] == kind for other in CASES)}"
    described = {n: {"shape": ["N", *v.shape[2:]], "dtype": "f32" if v.is_floating_point() else "i32"} for n, v in inputs.items()}
    train = {"batch": {"N": next(iter(inputs.values())).shape[1]}, "steps": 1, "optimizer": {"op": "sgd", "lr": 1}, **train}
    model = {"format": "heddle-model/1", "name": "m", "inputs": described, "nodes": nodes, "outputs": {"o": nodes[1]["name"]}, "train": train}
    CASES[name] = model, {**{"in." + n: v for n, v in inputs.items()}, **tensors}


def read(values):
    """Inputs of zeros and nodes that add parameters to them; the parameters themselves."""
    inputs = {f"z{i}": torch.zeros_like(v)[None] for i, v in enumerate(values)}
    nodes = []
    for i, v in enumerate(values):
        nodes += [{"name": f"p{i}", "op": "param", "shape": list(v.shape)}, {"name": f"x{i}", "op": "add", "in": [f"z{i}", f"p{i}"]}]
    return inputs, nodes, [v.clone().requires_grad_() for v in values]


def loss(op, settings, values, more, costs, order=None):
    """`costs` are PyTorch's, of each element or row, or their mean; `more` are inputs, of which w weighs rows."""
    inputs, nodes, p = read(values)
    result = costs(*p)
    w = more.get("w")
    if w is None:
        result = result.mean()
    else:
        spread = w.reshape(-1, *[1] * (result.ndim - 1)).expand_as(result)
        result = (result * spread).sum() / spread.sum()
    result.backward()
    names = [f"x{i}" for i in range(len(values))]
    given = {"op": op, "in": order or [*names, *(n for n in more if n != "w")], **settings, **({} if w is None else {"weights": "w"})}
    tensors = {"loss": result.detach()}
    for i, v in enumerate(values):
        tensors.update({f"start.p{i}": v, f"grad.p{i}": p[i].grad})
    add("loss_" + op, {**inputs, **{n: v[None] for n, v in more.items()}}, nodes, {"loss": given}, tensors)


def layer(node, values, function, before=()):
    """`before` are nodes in front of it; where there are any, the node says what it reads."""
    inputs, nodes, p = read(values)
    y = function(*p)
    q = drawn(*y.shape, seed=900 + len(CASES))
    (y * q).sum().backward()
    nodes += [*before, {"name": "l", "in": [f"x{i}" for i in range(len(values))], **node}, {"name": "q", "op": "param", "shape": list(y.shape)},
              {"name": "yq", "op": "mul", "in": ["l", "q"]}, {"name": "s", "op": "sum"}]
    tensors = {"loss": (y * q).sum().detach(), "start.q": q, "grad.q": y.detach()}
    for i, v in enumerate(values):
        tensors.update({f"start.p{i}": v, f"grad.p{i}": p[i].grad})
    add("layer_" + (before[0] if before else node)["op"], inputs, nodes, {"loss": {"op": "value", "in": "s"}}, tensors)


def weights(rows, seed):
    return f32(drawn(rows, seed=seed).abs())


# Losses.

def focal(x, t, alpha, gamma):
    """As torchvision.ops.sigmoid_focal_loss."""
    p = torch.sigmoid(x)
    missed = 1 - (p * t + (1 - p) * (1 - t))
    value = F.binary_cross_entropy_with_logits(x, t, reduction="none") * missed ** gamma
    return value if alpha < 0 else value * (alpha * t + (1 - alpha) * (1 - t))


def focals():
    for k in range(4):
        shape, alpha, gamma = [(6,), (4, 3)][k % 2], [exact(0.1, 0.9), -1][k // 2], [2.0, 0.5, 1.0, 0.0][k]
        x, soft = drawn(*shape, seed=k, scale=2), f32(torch.sigmoid(drawn(*shape, seed=10 + k)))
        t = soft if k == 1 else (soft > 0.5).double()
        more = {"t": t, **({"w": weights(shape[0], 20 + k)} if k > 1 else {})}
        loss("focal", {"alpha": alpha, "gamma": gamma}, [x], more, lambda p: focal(p, t, alpha, gamma))
    t, x = torch.tensor([1.0, 0, 1, 0]).double(), torch.tensor([1000.0, -1000, -1000, 1000]).double()
    loss("focal", {}, [x], {"t": t}, lambda p: focal(p, t, 0.25, 2))


def tversky(x, t, alpha, beta, smooth, factor=1, given=False):
    p, axes = x if given else torch.sigmoid(x), tuple(range(1, x.ndim))
    both, extra, missed = (v.sum(axes) for v in (p * t, p * (1 - t), (1 - p) * t))
    return 1 - (factor * both + smooth) / (factor * both + alpha * extra + beta * missed + smooth)


def overlaps():
    for k in range(4):
        shape, smooth, given = [(3, 5), (2, 4, 3)][k % 2], [1e-5, 1.0][k % 2], k == 2
        x, t = drawn(*shape, seed=30 + k), (drawn(*shape, seed=40 + k) > 0.3).double()
        x = f32(torch.sigmoid(x)) if given else x
        more = {"t": t, **({"w": weights(shape[0], 50 + k)} if k == 3 else {})}
        settings = {"smooth": smooth, "probabilities": given}
        loss("dice", settings, [x], more, lambda p: tversky(p, t, 1, 1, smooth, 2, given))
        alpha, beta = exact(0.1, 1), exact(0.1, 1)
        loss("tversky", {"alpha": alpha, "beta": beta, **settings}, [x], more, lambda p: tversky(p, t, alpha, beta, smooth, 1, given))


def triplets():
    for k in range(6):
        shape, p, margin, swap = [(5, 4), (3, 2, 6)][k % 2], [2, 1, 3, 2, 1.5, 2][k], exact(0.5, 2), k % 3 == 2
        values = [drawn(*shape, seed=60 + 3 * k + i) for i in range(3)]
        more = {"w": weights(shape[0], 80 + k)} if k > 3 else {}
        loss("triplet", {"p": p, "margin": margin, "swap": swap}, values, more,
             lambda a, b, c: F.triplet_margin_loss(a, b, c, margin=margin, p=p, swap=swap, reduction="none"))


def rankings():
    for k in range(3):
        shape, margin = [(6,), (3, 4), (5,)][k], [0, exact(0.1, 1), exact(0.1, 1)][k]
        values, t = [drawn(*shape, seed=90 + k + 5 * i) for i in range(2)], torch.where(drawn(*shape, seed=98 + k) > 0, 1.0, -1.0).double()
        more = {"t": t, **({"w": weights(shape[0], 100 + k)} if k == 2 else {})}
        loss("margin_ranking", {"margin": margin}, values, more, lambda a, b: F.margin_ranking_loss(a, b, t, margin=margin, reduction="none"))


def margins():
    for k in range(4):
        rows, classes, p, margin = 5, PICK.randint(2, 6), 1 + k % 2, exact(0.3, 2)
        x, y = drawn(rows, classes, seed=110 + k, scale=2), integers(classes, rows, seed=120 + k)
        each = [exact(0.2, 2) for _ in range(classes)] if k > 1 else None
        settings = {"p": p, "margin": margin, **({} if each is None else {"class_weights": each})}
        tensor = None if each is None else torch.tensor(each).double()
        more = {"y": y, **({"w": weights(rows, 130 + k)} if k == 3 else {})}
        loss("multi_margin", settings, [x], more, lambda v: F.multi_margin_loss(v, y, p, margin, tensor, reduction="none"))
    x, y = drawn(4, 3, seed=135), torch.tensor([1, IGNORED, 0, IGNORED])
    keep = y != IGNORED
    loss("multi_margin", {}, [x], {"y": y}, lambda v: F.multi_margin_loss(v[keep], y[keep], reduction="none"))


def gaussians():
    for k in range(4):
        shape, eps, full = [(5,), (3, 4)][k % 2], [1e-6, 0.25][k // 2], k % 2 == 1
        x, t, v = drawn(*shape, seed=140 + k), drawn(*shape, seed=150 + k), f32(drawn(*shape, seed=160 + k).abs() + 0.05)
        more = {"t": t, **({"w": weights(shape[0], 170 + k)} if k > 1 else {})}
        loss("gaussian_nll", {"eps": eps, "full": full}, [x, v], more,
             lambda p, v: F.gaussian_nll_loss(p, t, v, full=full, eps=eps, reduction="none"), ["x0", "t", "x1"])


def quantiles():
    for k in range(4):
        shape, q = [(5,), (3, 4)][k % 2], exact(0.05, 0.95)
        x, t = drawn(*shape, seed=180 + k), drawn(*shape, seed=190 + k)
        t.view(-1)[0] = x.view(-1)[0]
        more = {"t": t, **({"w": weights(shape[0], 200 + k)} if k > 1 else {})}
        loss("quantile", {"quantile": q}, [x], more, lambda p: torch.maximum(q * (t - p), (q - 1) * (t - p)))


def cosines():
    for k in range(3):
        rows, margin = 6, [0, exact(-0.5, 0.5), exact(0, 0.5)][k]
        values, t = [drawn(rows, 2 + k, seed=210 + 2 * k + i) for i in range(2)], 2 * integers(2, rows, seed=220 + k) - 1
        if k == 0:
            values[0][1] = 0
        more = {"t": t, **({"w": weights(rows, 225 + k)} if k == 2 else {})}
        loss("cosine_embedding", {"margin": margin}, values, more, lambda a, b: F.cosine_embedding_loss(a, b, t, margin=margin, reduction="none"))


def complete_iou(p, t, eps=1e-7):
    """As torchvision.ops.complete_box_iou_loss, which this computer need not have: the formulas of arXiv 1911.08287."""
    (x1, y1, x2, y2), (u1, v1, u2, v2) = p.unbind(-1), t.unbind(-1)
    wide, high = torch.min(x2, u2) - torch.max(x1, u1), torch.min(y2, v2) - torch.max(y1, v1)
    common = torch.where((wide > 0) & (high > 0), wide * high, torch.zeros_like(wide))
    iou = common / ((x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - common + eps)
    diagonal = (torch.max(x2, u2) - torch.min(x1, u1)) ** 2 + (torch.max(y2, v2) - torch.min(y1, v1)) ** 2 + eps
    distance = ((x1 + x2) / 2 - (u1 + u2) / 2) ** 2 + ((y1 + y2) / 2 - (v1 + v2) / 2) ** 2
    v = 4 / torch.pi ** 2 * (torch.atan((u2 - u1) / (v2 - v1)) - torch.atan((x2 - x1) / (y2 - y1))) ** 2
    alpha = (v / (1 - iou + v + eps)).detach()
    return 1 - iou + distance / diagonal + alpha * v


def boxes():
    """That meet, lie in one another, touch, are equal but for a side, and lie apart."""
    for k in range(4):
        shape, eps = [(6,), (3, 5), (2, 3, 2), (5,)][k], [1e-7, 1e-7, 0.015625, 1e-7][k]
        p, t = (torch.cat([corner, corner + drawn(*shape, 2, seed=420 + 2 * k + i).abs() + 0.25], -1)
                for i, corner in enumerate(drawn(*shape, 2, seed=430 + 2 * k + i, scale=0.5) for i in (0, 1)))
        p, t = f32(p), f32(t)
        if k == 3:
            t[:] = torch.tensor([0.0, 0, 2, 1])
            p[:] = torch.tensor([[0.5, 0.25, 1, 0.75], [2, 0, 3, 1], [0, 0, 2, 1.5], [4, 3, 5, 5], [-1, -1, 3, 2]])
        more = {"t": t, **({"w": weights(shape[0], 440 + k)} if k in (1, 2) else {})}
        loss("ciou", {} if eps == 1e-7 else {"eps": eps}, [p], more, lambda v: complete_iou(v, t, eps))


# Layers.

def similarities():
    for k in range(4):
        shape, axis = [(4, 5), (3, 4, 2), (2, 3, 4), (3, 4)][k], [-1, 1, 2, -1][k]
        values = [drawn(*shape, seed=230 + 2 * k + i) for i in range(2)]
        if k == 3:
            values[0][0] = 0  # whose gradient is the other's direction over eps
        layer({"op": "cosine_similarity", "axis": axis}, values, lambda a, b: F.cosine_similarity(a, b, dim=axis))
    values = [f32(drawn(3, 4, seed=240 + i)) for i in range(2)]
    layer({"op": "cosine_similarity", "eps": 2}, values, lambda a, b: F.cosine_similarity(a, b, eps=2))


def distances():
    for k, p in enumerate([2, 1, 3, 0.5]):
        shape, keep = [(4, 5), (3, 2, 4)][k % 2], k > 1
        values = [drawn(*shape, seed=250 + 2 * k + i) for i in range(2)]
        layer({"op": "pairwise_distance", "p": p, "keepdims": keep}, values, lambda a, b: F.pairwise_distance(a, b, p=p, keepdim=keep))


def norms():
    for k, p in enumerate([2, 2, 1, 3, 1.5, 0.5, 2, 4]):
        shape, axis, keep = [(3, 4), (2, 3, 4), (4, 2, 3)][k % 3], [-1, 1, [0, 2]][k % 3], k % 2 == 1
        x = drawn(*shape, seed=270 + k)
        if k in (0, 3, 4, 5):
            x[0] = 0  # a norm of 0
        x.view(-1)[-1] = 0
        settings = {} if k == 6 else {"axis": axis, "keepdims": keep}
        dim = None if k == 6 else axis
        layer({"op": "norm", "p": p, **settings}, [x], lambda v: torch.linalg.vector_norm(v, p, dim, keep and k != 6))
    x = drawn(3, 4, seed=289)
    x[0, 1] = x[2] = 0
    counted = [{"name": "k", "op": "norm", "p": 0, "in": "x0", "axis": 1}, {"name": "t", "op": "sum", "in": "x0", "axis": 1}]
    layer({"op": "add", "in": ["k", "t"]}, [x], lambda v: (v != 0).sum(1) + v.sum(1), counted)


def deviations():
    for op, function in (("var", torch.var), ("std", torch.std)):
        for k in range(5):
            shape, axis, keep = [(4, 5), (3, 4, 2), (2, 3, 4)][k % 3], [-1, 1, [0, 2]][k % 3], k % 2 == 1
            x, correction = drawn(*shape, seed=290 + k), [1, 0, 0.5, 2, 1][k]
            if k == 4:
                x = f32(x + 16)  # far from 0
            if k == 0:
                x[1] = 0.5  # no deviation
            layer({"op": op, "axis": axis, "keepdims": keep, **({} if k in (0, 4) else {"correction": correction})}, [x],
                  lambda v: function(v, dim=axis, correction=correction, keepdim=keep))
        layer({"op": op}, [drawn(3, 4, seed=300)], lambda v: function(v))


def movements():
    layer({"op": "outer"}, [drawn(3, 4, seed=310), drawn(3, 5, seed=311)], lambda a, b: torch.einsum("ni,nj->nij", a, b))
    layer({"op": "outer"}, [drawn(4, seed=312), drawn(4, seed=313)], torch.outer)
    for k, (shifts, axis) in enumerate([(1, 1), (-2, 0), ([2, -1], [1, 2]), (9, -1), ([1, 1], [1, 1])]):
        layer({"op": "roll", "shifts": shifts, "axis": axis}, [drawn(3, 4, 2, seed=320 + k)], lambda v: v.roll(shifts, axis))
    layer({"op": "roll", "shifts": 3}, [drawn(3, 4, seed=326)], lambda v: v.roll(3))
    for op, function in (("tril", torch.tril), ("triu", torch.triu)):
        for k, diagonal in enumerate([0, 1, -2, 9]):
            shape = [(3, 4), (2, 4, 3), (2, 2, 3, 3)][k % 3]
            layer({"op": op, "diagonal": diagonal}, [drawn(*shape, seed=330 + k)], lambda v: function(v, diagonal))


def searches():
    """As numbers, with what has a gradient added."""
    for k in range(4):
        side, count, shape = ["left", "right"][k % 2], [1, 3, 8, 13][k], [(3, 4), (2, 3, 2)][k // 2]
        boundaries, _ = (integers(9, count, seed=340 + k).double() / 4).sort()  # some are equal
        x = f32(drawn(*shape, seed=350 + k)) + 1
        x.view(-1)[:2] = boundaries[[0, -1]]
        node, function = {"op": "searchsorted", "side": side}, lambda v, b: torch.searchsorted(b, v.detach().contiguous(), right=side == "right")
        number = {"name": "n", "op": "cast", "in": "k", "dtype": "f32"}
        given = {"name": "k", "in": "x0", "boundaries": boundaries.tolist(), **node}
        layer({"op": "add", "in": ["n", "x0"]}, [x], lambda v: function(v, boundaries) + v, [given, number])
        x = f32(drawn(count, 3, seed=360 + k)) + 1  # as many rows as boundaries: both are inputs of the model
        x[0, 0] = boundaries[-1]
        read = {"name": "k", "in": {"x": "x0", "boundaries": "x1"}, **node}
        total = [{"name": "t", "op": "sum", "in": "x1"}, {"name": "u", "op": "add", "in": ["x0", "t"]}]
        layer({"op": "add", "in": ["n", "u"]}, [x, boundaries], lambda v, b: function(v, b.detach()) + v + b.sum(), [read, number, *total])


def histograms():
    for k in range(3):
        bins, low, high, shape = [4, 10, 1][k], [-1.0, 0.0, 0.5][k], [1.0, 2.5, 0.75][k], [(40,), (5, 7), (2, 3, 4)][k]
        x = drawn(*shape, seed=400 + k)
        x.view(-1)[:3] = torch.tensor([low, high, (low + high) / 2])
        counted = {"name": "h", "op": "histogram", "in": "x0", "bins": bins, "min": low, "max": high}
        layer({"op": "add", "in": ["h", "t"]}, [x], lambda v: torch.histc(v.detach(), bins, low, high) + v.sum(),
              [counted, {"name": "t", "op": "sum", "in": "x0"}])


def quantile_layers():
    for k, q in enumerate([0.5, 0.25, [0.1, 0.9], 1, 0.0, [0.3], 0.7]):
        shape, axis, keep = [(5, 4), (3, 6, 2), (7,)][k % 3], [1, 1, None, 0, -2, 0, None][k], k in (1, 6)
        x = drawn(*shape, seed=370 + k)
        settings = {} if axis is None else {"axis": axis}
        at = None if axis is None else axis % x.ndim

        def function(v):
            if not isinstance(q, list):
                return torch.quantile(v, q, dim=axis, keepdim=keep)
            several = torch.quantile(v, torch.tensor(q, dtype=torch.float64), dim=axis)
            return several if at is None else several.movedim(0, at)

        layer({"op": "quantile", "q": q, "keepdims": keep, **settings}, [x], function)
    x = drawn(3, 4, seed=379)
    x[1, 2] = 0.5
    layer({"op": "quantile", "q": 0.4, "axis": 1}, [x], lambda v: torch.quantile(v, 0.4, dim=1))


WINDOWS = [{"kernel": 3}, {"kernel": [2, 3], "stride": [1, 2], "pad": [0, 1]}, {"kernel": 2, "stride": 2},
           {"kernel": [3, 2], "dilation": [1, 2], "pad": 1, "stride": [3, 1]}, {"kernel": [1, 4], "stride": 3}, {"kernel": [6, 5]}]


def window_sizes(settings, image):
    """torch.nn.Unfold's arguments, and how many windows lie below and beside one another."""
    pair = lambda name, otherwise: (lambda s: (s, s) if isinstance(s, int) else tuple(s))(settings.get(name, otherwise))
    sizes = dict(kernel_size=pair("kernel", 1), stride=pair("stride", 1), padding=pair("pad", 0), dilation=pair("dilation", 1))
    counts = [(image[i] + 2 * sizes["padding"][i] - sizes["dilation"][i] * (sizes["kernel_size"][i] - 1) - 1) // sizes["stride"][i] + 1 for i in (0, 1)]
    return sizes, counts


def windows():
    for k, settings in enumerate(WINDOWS):
        image, channels = (6, 5), 1 + k % 3
        sizes, counts = window_sizes(settings, image)
        area = sizes["kernel_size"][0] * sizes["kernel_size"][1]
        layer({"op": "unfold", **settings}, [drawn(2, *image, channels, seed=380 + k)],
              lambda v: F.unfold(v.movedim(-1, 1), **sizes).reshape(2, channels * area, *counts).movedim(1, -1))
        layer({"op": "fold", "size": list(image), **settings}, [drawn(2, *counts, channels * area, seed=390 + k)],
              lambda v: F.fold(v.movedim(-1, 1).reshape(2, channels * area, -1), image, **sizes).movedim(1, -1))


# Metrics.

def measured(kind, scores, labels, metrics):
    """`metrics`: (settings, value)."""
    nodes = [{"name": "w", "op": "param", "shape": [], "init": "ones"}, {"name": "p", "op": "mul", "in": ["s", "w"]}, {"name": "one", "op": "mean", "in": "p"}]
    train = {"loss": {"op": "value", "in": "one"}, "optimizer": {"op": "sgd", "lr": 0}, "metrics": [{**settings, "in": ["p", "t"]} for settings, _ in metrics]}
    values = torch.tensor([float(v) for _, v in metrics], dtype=torch.float64)
    add("metrics_" + kind, {"s": torch.from_numpy(scores), "t": torch.from_numpy(labels)}, nodes, train, {"metrics": values})


def agreements(y, p, extra):
    return [({"op": "balanced_accuracy", **extra}, m.balanced_accuracy_score(y, p)),
            ({"op": "balanced_accuracy", "adjusted": True, **extra}, m.balanced_accuracy_score(y, p, adjusted=True)),
            ({"op": "mcc", **extra}, m.matthews_corrcoef(y, p)), ({"op": "kappa", **extra}, m.cohen_kappa_score(y, p)),
            *(({"op": "kappa", "weighting": w, **extra}, m.cohen_kappa_score(y, p, labels=range(max(y.max(), p.max()) + 1), weights=w))
              for w in ("linear", "quadratic"))]


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def metrics():
    for k in range(4):
        pick, classes, rows = numpy.random.default_rng(k), [3, 5, 2, 4][k], (2, 12)
        scores, labels = pick.integers(-64, 65, (*rows, classes)) / 32, pick.integers(0, classes - (k == 1), rows)
        scores += 1.5 * (labels[..., None] == numpy.arange(classes))
        keep = numpy.ones(rows, bool)
        if k == 3:
            keep = pick.random(rows) < 0.7
        y, x = labels[keep], scores[keep]
        labels = numpy.where(keep, labels, IGNORED)
        p, chances = x.argmax(-1), softmax(x)
        one = chances[:, 1] if classes == 2 else chances
        values = [*agreements(y, p, {}), ({"op": "log_loss"}, m.log_loss(y, chances, labels=range(classes))),
                  ({"op": "brier"}, m.brier_score_loss(y, one, labels=range(classes)))]
        measured("classes", scores, labels, values)
    for k in range(2):
        pick, shape = numpy.random.default_rng(40 + k), [(2, 12), (2, 12, 1)][k]
        scores, labels = pick.integers(-96, 97, shape) / 32, pick.integers(0, 2, shape)
        scores += 1.5 * labels
        y, x = labels.ravel(), scores.ravel()
        chances = 1 / (1 + numpy.exp(-x))
        measured("labels", scores, labels, [*agreements(y, (x > 0.5).astype(int), {"threshold": 0.5}),
                                            ({"op": "log_loss"}, m.log_loss(y, chances)), ({"op": "brier"}, m.brier_score_loss(y, chances))])
    # All rows of one class, all right: no correlation.
    scores = numpy.zeros((1, 4, 2))
    scores[..., 1] = 1
    labels = numpy.ones((1, 4), int)
    measured("one", scores, labels, [({"op": "mcc"}, m.matthews_corrcoef(labels[0], labels[0])), ({"op": "balanced_accuracy"}, 1)])


def main():
    torch.set_num_threads(1)
    for family in (focals, overlaps, triplets, rankings, margins, gaussians, quantiles, cosines, similarities, distances, norms, deviations,
                   movements, metrics, searches, histograms, quantile_layers, windows, boxes):
        family()
    models = {name: json.dumps(model) for name, (model, _) in CASES.items()}
    tensors = {f"{name}/{n}": v.detach().contiguous().numpy() for name, (_, of_case) in CASES.items() for n, v in of_case.items()}
    note = f"torch {torch.__version__.split('+')[0]}, scikit-learn {sklearn.__version__}, see make_parts.py"
    write(HERE / "parts.safetensors", tensors, {"note": note, **models})
    print(len(CASES), "cases")


if __name__ == "__main__":
    main()
