#!/usr/bin/env python3
"""Makes PyTorch's numbers for recurrent layers: recurrent.safetensors beside this file.

    python3 make_recurrent.py    # needs torch and numpy; the stored file was made with torch 2.15.0 on a CPU

Everything is in float64, from numbers that are float32. Rows are run one by one, each to its own length: so no padding is
there, and a row of no steps keeps its starts. A case's tensors are called CASE/NAME:

  x, size, h0, c0          inputs; size, h0 and c0 only where the case has them
  y, last, cell, h_n, c_n  results in evaluation; cell and c_n only of an lstm
  r.y, r.h_n, r.c_n        what y, h_n and c_n are multiplied with before all is summed: the loss
  start.P, grad.P          parameters and their gradients; grad.x, grad.h0, grad.c0

The metadata holds each case's node, without name, input and output.
"""
import json
import pathlib

import torch

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
KINDS = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
# The node's settings, N, T, features, lengths, and whether starts are given.
CASES = [
    ({"op": "rnn", "units": 4}, 3, 5, 3, None, False),
    ({"op": "rnn", "units": 5, "activation": "relu", "layers": 2, "bidirectional": True}, 4, 6, 2, [0, 6, 3, 1], True),
    ({"op": "rnn", "units": 3, "bias": False}, 2, 1, 4, None, True),
    ({"op": "gru", "units": 4}, 3, 5, 3, None, False),
    ({"op": "gru", "units": 5, "layers": 2, "bidirectional": True}, 4, 6, 2, [2, 0, 6, 5], True),
    ({"op": "gru", "units": 3, "bias": False}, 2, 4, 4, [4, 1], False),
    ({"op": "gru", "units": 3, "bias": "single"}, 2, 4, 4, None, True),
    ({"op": "lstm", "units": 4}, 3, 5, 3, None, False),
    ({"op": "lstm", "units": 4}, 7, 5, 3, [0, 1, 2, 3, 4, 5, 0], True),
    ({"op": "lstm", "units": 5, "layers": 2, "bidirectional": True}, 4, 6, 2, [6, 0, 1, 4], True),
    ({"op": "lstm", "units": 5, "projection": 3, "layers": 2, "bidirectional": True}, 4, 6, 2, [6, 0, 1, 4], True),
    ({"op": "lstm", "units": 6, "projection": 2}, 3, 7, 4, None, True),
    ({"op": "lstm", "units": 3, "bias": "single", "layers": 3}, 2, 4, 4, None, False),
    ({"op": "lstm", "units": 16, "layers": 2}, 8, 20, 12, None, False),
]


def module_of(node, features):
    more = {"proj_size": node["projection"]} if "projection" in node else {}
    if "activation" in node:
        more["nonlinearity"] = node["activation"]
    module = KINDS[node["op"]](features, node["units"], node.get("layers", 1), bias=node.get("bias", True) is not False,
                               bidirectional=node.get("bidirectional", False), batch_first=True, **more)
    return module.double()


def rows(module, x, lengths, starts):
    """Outputs [N, T, ...] and states [layers * directions, N, ...]."""
    outputs, states = [], []
    for n, length in enumerate(lengths):
        own = [s[:, n : n + 1] for s in starts]
        if length == 0:
            outputs.append(torch.zeros(1, x.shape[1], module.weight_hh_l0.shape[1] * (2 if module.bidirectional else 1), dtype=x.dtype))
            states.append(own)
            continue
        out, state = module(x[n : n + 1, :length], tuple(own) if len(own) == 2 else own[0])
        outputs.append(torch.nn.functional.pad(out, (0, 0, 0, x.shape[1] - length)))
        states.append(state if len(own) == 2 else [state])
    return torch.cat(outputs), [torch.cat(parts, 1) for parts in zip(*states)]


def tensors_of(seed, node, n, t, features, lengths, with_starts):
    generator = torch.Generator().manual_seed(seed)
    module = module_of(node, features)
    directions, layers, lstm = 1 + module.bidirectional, node.get("layers", 1), node["op"] == "lstm"
    with torch.no_grad():
        for name, p in module.named_parameters():
            p.copy_(f32(torch.rand(p.shape, generator=generator).double() * 1.6 - 0.8))
            if node.get("bias") == "single" and name.startswith("bias_hh"):
                p.zero_()
    draw = lambda *shape: f32(torch.randn(shape, generator=generator).double())  # noqa: E731
    widths = [node.get("projection", node["units"]), node["units"]][: 1 + lstm]
    x = draw(n, t, features).requires_grad_()
    starts = [draw(layers * directions, n, w) if with_starts else torch.zeros(layers * directions, n, w).double() for w in widths]
    for s in starts:
        s.requires_grad_()
    y, states = rows(module, x, lengths or [t] * n, starts)
    out = {"x": x.detach(), "y": y.detach(), "r.y": draw(*y.shape)}
    loss = (y * out["r.y"]).sum()
    for name, top, start, state in zip(("h", "c"), ("last", "cell"), starts, states):
        out[f"{name}_n"], out[f"r.{name}_n"] = state.detach(), draw(*state.shape)
        out[top] = torch.cat(list(state.detach()[-directions:]), 1)
        loss = loss + (state * out[f"r.{name}_n"]).sum()
    loss.backward()
    out["grad.x"] = x.grad
    for name, start in zip(("h0", "c0"), starts):
        if with_starts:
            out[name], out[f"grad.{name}"] = start.detach(), start.grad
    if lengths:
        out["size"] = torch.tensor(lengths, dtype=torch.int64)
    for name, p in module.named_parameters():
        if node.get("bias") != "single" or not name.startswith("bias_hh"):
            out[f"start.{name}"], out[f"grad.{name}"] = p.detach(), p.grad
    return out


def main():
    torch.set_num_threads(1)
    tensors, cases = {}, {}
    for seed, (node, *rest) in enumerate(CASES):
        name = f"{node['op']}_{seed}"
        cases[name] = json.dumps(node)
        tensors.update({f"{name}/{k}": v.contiguous().numpy() for k, v in tensors_of(seed, node, *rest).items()})
    write(HERE / "recurrent.safetensors", tensors, {"note": f"torch {torch.__version__.split('+')[0]}, see make_recurrent.py", **cases})
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
