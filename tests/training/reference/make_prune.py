#!/usr/bin/env python3
"""Makes PyTorch's numbers for train.prune: prune.safetensors beside this file.

    python3 make_prune.py    # needs torch and numpy; the stored file was made with torch 2.15.0

Masks of torch.nn.utils.prune (l1_unstructured with a number of weights, custom_from_mask for "2:4"), made anew behind the steps that docs/training.md
says, by its cubic schedule. Weights are `weight_orig * weight_mask`, so that gradients of pruned ones are 0. Plain descent in float64 from
numbers that are float32. Tensors are called as in make_shared.py.
"""
import json
import pathlib

import torch
from torch import nn
from torch.nn.utils import prune

import make_shared
from make_layers import write
from make_shared import CASES, drawn

HERE = pathlib.Path(__file__).parent
END = [{"name": "u2", "op": "square", "in": "u"}, {"name": "end", "op": "mean"}]


def share_at(t, rule):
    """Zhu and Gupta 2017, arXiv 1710.01878, from no weight on; None where step t, counted from 1, prunes nothing."""
    begin, end = rule.get("begin", 0), rule["end"]
    if not begin <= t <= end or ((t - begin) % rule["every"] and t != end):
        return None
    final = 0.5 if rule["amount"] == "2:4" else rule["amount"]
    return final if begin == end else final * (1 - ((end - t) / (end - begin)) ** 3)


class Pruned(nn.Module):
    """A module whose named weights are pruned; its state has whole weights under their names."""
    def __init__(self, net, weights, rule):
        super().__init__()
        self.net, self.weights, self.rule = net, weights, rule
        for module, name in self.each():
            prune.identity(module, name)

    def each(self):
        for w in self.weights:
            path, name = w.rsplit(".", 1)
            yield self.net.get_submodule(path), name

    def renew(self, k):
        share = share_at(k + 1, self.rule)
        for module, name in self.each():
            mask, orig = getattr(module, name + "_mask"), getattr(module, name + "_orig")
            if share is None:
                continue
            if self.rule["amount"] == "2:4":
                size = (orig * mask).abs().movedim(1, -1)
                rows = torch.where(mask.movedim(1, -1) == 0, -1.0, size).reshape(-1, 4)
                keep = torch.ones_like(rows).scatter_(1, rows.argsort(dim=1, stable=True)[:, :round(4 * share)], 0)
                prune.custom_from_mask(module, name, keep.reshape(size.shape).movedim(-1, 1))
            else:  # of the weights that are left, so many more; the module's own attribute is that of the last forward pass
                more = round(share * mask.numel()) - int((mask == 0).sum())
                prune.l1_unstructured(module, name, more, importance_scores=orig.detach() * mask)

    def state_dict(self):
        state = {n.removesuffix("_orig"): v for n, v in self.net.state_dict().items() if not n.endswith("_mask")}
        for w in self.weights:
            path, name = w.rsplit(".", 1)
            module = self.net.get_submodule(path)
            state[w] = getattr(module, name + "_orig") * getattr(module, name + "_mask")
        return state

    def forward(self, x):
        return self.net(x)


def add(name, nodes, net, x, weights, rule, steps):
    net = Pruned(net, weights, rule)

    def forward(v):
        u = net(v)
        return (u ** 2).mean(), {"u": u}

    make_shared.add(name, {"nodes": [*nodes, *END]}, net, {"x": x}, forward, steps=steps, renew=net.renew)
    CASES[name][0]["train"]["prune"] = {"match": weights, **rule}


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.u = nn.Linear(8, 5), nn.Linear(5, 3)

    def forward(self, x):
        return self.u(torch.tanh(self.a(x)))


class Filters(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.u = nn.Conv2d(4, 6, 3), nn.ConvTranspose2d(6, 4, 2)

    def forward(self, x):
        return self.u(torch.tanh(self.c(x.permute(0, 3, 1, 2)))).permute(0, 2, 3, 1)


DENSE = [{"name": "a", "op": "dense", "units": 5, "activation": "tanh"}, {"name": "u", "op": "dense", "units": 3}]
FILTERS = [{"name": "c", "op": "conv2d", "filters": 6, "kernel": 3, "activation": "tanh"}, {"name": "u", "op": "conv2d_transpose", "filters": 4, "kernel": 2}]


if __name__ == "__main__":
    torch.set_num_threads(1)
    add("prune_dense", DENSE, Dense(), drawn(6, 4, 8, seed=1), ["a.weight", "u.weight", "u.bias"], {"amount": 0.6, "end": 5, "every": 2}, 6)
    add("prune_at_once", DENSE, Dense(), drawn(4, 4, 8, seed=2), ["a.weight", "u.weight"], {"amount": 0.5, "begin": 2, "end": 2, "every": 1}, 4)
    add("prune_2_4", DENSE, Dense(), drawn(5, 4, 8, seed=3), ["a.weight"], {"amount": "2:4", "end": 4, "every": 1}, 5)
    add("prune_filters", FILTERS, Filters(), drawn(4, 2, 5, 5, 4, seed=4), ["c.weight", "u.weight"], {"amount": 0.5, "begin": 1, "end": 3, "every": 1}, 4)
    add("prune_filters_2_4", FILTERS, Filters(), drawn(3, 2, 5, 5, 4, seed=5), ["c.weight"], {"amount": "2:4", "begin": 1, "end": 1, "every": 1}, 3)
    write(HERE / "prune.safetensors",
          {f"{case}/{n}": v.contiguous().numpy() for case, (_, tensors) in CASES.items() for n, v in tensors.items()},
          {"note": f"torch {torch.__version__.split('+')[0]}, see make_prune.py", **{case: json.dumps(model) for case, (model, _) in CASES.items()}})
