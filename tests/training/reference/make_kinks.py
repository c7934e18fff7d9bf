#!/usr/bin/env python3
"""Makes PyTorch's gradients at kinks, ties and limits: kinks.json beside this file.

    python3 make_kinks.py    # needs torch; the stored file was made with torch 2.15.0 on a CPU, in float64

A row is an operation, the node of a model that computes it, where it stands, `x`, and the gradient of the sum of its result there.
A node of two operands, or a loss, reads the columns "a" and "b" of x. tests/unit/kinks_test.cpp holds it against the
evaluator and against the table of docs/gradients.md.
"""
import json
import math
import pathlib

import torch
from torch.nn import functional as F

HERE = pathlib.Path(__file__).parent


def of(name, node, x, function):
    """Element by element of a row."""
    t = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    function(t).sum().backward()
    return {"operation": name, "node": node, "x": x, "torch": t.grad.tolist()}


def pair(name, node, a, b, function):
    """Two operands, columns 0 and 1."""
    return of(name, {**node, "in": ["a", "b"]}, [a, b], lambda t: function(t[0:1], t[1:2]))


ROWS = [
    of("relu", {"op": "relu"}, [0.0], F.relu),
    of("relu6", {"op": "relu6"}, [0.0, 6.0], F.relu6),
    of("leaky_relu, slope 0.25", {"op": "leaky_relu", "slope": 0.25}, [0.0], lambda x: F.leaky_relu(x, 0.25)),
    of("elu, alpha 0.5", {"op": "elu", "alpha": 0.5}, [0.0], lambda x: F.elu(x, 0.5)),
    of("celu, alpha 0.5", {"op": "celu", "alpha": 0.5}, [0.0], lambda x: F.celu(x, 0.5)),
    of("selu", {"op": "selu"}, [0.0], F.selu),
    of("hard_sigmoid", {"op": "hard_sigmoid"}, [-3.0, 3.0], F.hardsigmoid),
    of("hard_swish", {"op": "hard_swish"}, [-3.0, 3.0], F.hardswish),
    of("softsign", {"op": "softsign"}, [0.0], F.softsign),
    of("clamp, low -1, high 2", {"op": "clamp", "low": -1, "high": 2}, [-1.0, 2.0], lambda x: x.clamp(-1, 2)),
    of("clamp as hardtanh", {"op": "clamp", "low": -1, "high": 1}, [-1.0, 1.0], F.hardtanh),
    of("abs", {"op": "abs"}, [0.0], torch.abs),
    of("sign", {"op": "sign"}, [0.0], torch.sign),
    of("floor", {"op": "floor"}, [1.0], torch.floor),
    of("ceil", {"op": "ceil"}, [1.0], torch.ceil),
    of("round", {"op": "round"}, [0.5], torch.round),
    of("sqrt", {"op": "sqrt"}, [0.0], torch.sqrt),
    of("rsqrt", {"op": "rsqrt"}, [0.0], torch.rsqrt),
    of("reciprocal", {"op": "reciprocal"}, [0.0], torch.reciprocal),
    of("log", {"op": "log"}, [0.0], torch.log),
    of("log1p", {"op": "log1p"}, [-1.0], torch.log1p),
    of("cbrt (x ** (1/3))", {"op": "cbrt"}, [0.0], lambda x: x ** (1 / 3)),
    of("asin", {"op": "asin"}, [-1.0, 1.0], torch.asin),
    of("acos", {"op": "acos"}, [-1.0, 1.0], torch.acos),
    of("acosh", {"op": "acosh"}, [1.0], torch.acosh),
    of("atanh", {"op": "atanh"}, [-1.0, 1.0], torch.atanh),
    pair("max of two equal numbers", {"op": "max"}, 2.0, 2.0, torch.maximum),
    pair("min of two equal numbers", {"op": "min"}, 2.0, 2.0, torch.minimum),
    pair("pow, 0 to the 0", {"op": "pow"}, 0.0, 0.0, torch.pow),
    pair("pow, 0 to the 1", {"op": "pow"}, 0.0, 1.0, torch.pow),
    pair("pow, 0 to the 2", {"op": "pow"}, 0.0, 2.0, torch.pow),
    pair("pow, 0 to the 0.5", {"op": "pow"}, 0.0, 0.5, torch.pow),
    pair("div by 0", {"op": "div"}, 1.0, 0.0, torch.div),
    pair("mod, 4 by 2", {"op": "mod"}, 4.0, 2.0, torch.remainder),
    pair("atan2 of 0 and 0", {"op": "atan2"}, 0.0, 0.0, torch.atan2),
    of("max over an axis (amax)", {"op": "max", "axis": 1}, [3.0, 3.0, 1.0], lambda x: x.amax(0)),
    of("max over an axis (max with index)", {"op": "max", "axis": 1}, [3.0, 3.0, 1.0], lambda x: x.max(0)[0]),
    of("min over an axis (amin)", {"op": "min", "axis": 1}, [1.0, 1.0, 3.0], lambda x: x.amin(0)),
    of("min over an axis (min with index)", {"op": "min", "axis": 1}, [1.0, 1.0, 3.0], lambda x: x.min(0)[0]),
    of("prod with a 0", {"op": "prod", "axis": 1}, [2.0, 0.0, 3.0], lambda x: x.prod(0)),
    of("prod with two 0", {"op": "prod", "axis": 1}, [0.0, 0.0, 3.0], lambda x: x.prod(0)),
    of("cumprod with a 0", {"op": "cumprod", "axis": 1}, [2.0, 0.0, 3.0], lambda x: x.cumprod(0)),
    of("cummax", {"op": "cummax", "axis": 1}, [3.0, 3.0, 1.0], lambda x: x.cummax(0)[0]),
    of("cummin", {"op": "cummin", "axis": 1}, [1.0, 1.0, 3.0], lambda x: x.cummin(0)[0]),
    of("top_k of equal numbers, k 1", {"op": "top_k", "k": 1, "out": ["y", "place"]}, [3.0, 3.0, 1.0], lambda x: x.topk(1)[0]),
    of("max_pool1d of equal numbers", {"op": "max_pool1d", "window": 2}, [3.0, 3.0], lambda x: F.max_pool1d(x[None, None], 2)),
    of("adaptive_max_pool1d of equal numbers", {"op": "adaptive_max_pool1d", "size": 1}, [3.0, 3.0, 1.0],
       lambda x: F.adaptive_max_pool1d(x[None, None], 1)),
    of("logsumexp of -inf alone", {"op": "logsumexp", "axis": 1}, [-math.inf, -math.inf], lambda x: x.logsumexp(0)),
    of("window_max of equal numbers", {"op": "window_max", "window": [1, 2]}, [3.0, 3.0], lambda x: F.max_pool1d(x[None, None], 2)),
    of("norm of zeros", {"op": "norm", "axis": 1}, [0.0, 0.0], torch.linalg.vector_norm),
    of("norm with p 1, of a 0", {"op": "norm", "p": 1, "axis": 1}, [0.0, 2.0], lambda x: torch.linalg.vector_norm(x, 1)),
    of("std of equal numbers", {"op": "std", "axis": 1}, [2.0, 2.0], torch.std),
    of("softmax with -inf", {"op": "softmax"}, [0.0, -math.inf], lambda x: F.softmax(x, 0)),
    pair("the loss mae (l1_loss), no difference", {"loss": "mae"}, 1.0, 1.0, F.l1_loss),
    pair("the loss huber, a difference of delta", {"loss": "huber"}, 2.0, 1.0, F.huber_loss),
    pair("the loss hinge (relu(1 - x t)), x t = 1", {"loss": "hinge"}, 1.0, 1.0, lambda x, t: F.relu(1 - x * t)),
    pair("the loss quantile 0.75, no difference", {"loss": "quantile", "quantile": 0.75}, 1.0, 1.0,
         lambda x, t: torch.maximum(0.75 * (t - x), -0.25 * (t - x))),
]


def main():
    text = ",\n".join(json.dumps(row).replace("NaN", '"nan"').replace("-Infinity", '"-inf"').replace("Infinity", '"inf"') for row in ROWS)
    (HERE / "kinks.json").write_text("[\n" + text + "\n]\n")
    print(len(ROWS), "rows, torch", torch.__version__)


if __name__ == "__main__":
    main()
