#!/usr/bin/env python3
"""Makes PyTorch's numbers for drawn settings of recurrent layers, attention and transformers: drawn.safetensors beside this file.

    python3 make_drawn.py                  # needs torch and numpy; the stored file was made with torch 2.15.0 on a CPU
    python3 make_drawn.py 400 FILE [SEED]  # as many cases into another file, for HEDDLE_DRAWN=FILE heddle_numeric_tests

Cases of recurrent layers are stored as make_recurrent.py stores them, the others as make_attention.py does. Where PyTorch has no
such setting, what it lacks is written out here: the reset before the product of a gru, masks by window and documents, and rows
that see no key, where PyTorch has nan and Heddle zeros. Where it has it, both are compared.
"""
import json
import pathlib
import random
import sys

import torch
from torch.nn import functional as F

import make_attention as attention
import make_recurrent as recurrent
from make_layers import write

HERE = pathlib.Path(__file__).parent
PICK = random.Random()
NOTHING = 1e-13  # gradients that are 0 but for rounding are stored as 0


def some(share, **settings):
    return settings if PICK.random() < share else {}


class GruBefore(torch.nn.GRU):
    """The reset gate multiplies the state: n = tanh(x W_in^T + b_in + (r h) W_hn^T + b_hn)."""

    def forward(self, x, start):
        states, directions = [], 1 + self.bidirectional
        for layer in range(self.num_layers):
            made = []
            for way in range(directions):
                h, outputs = start[layer * directions + way], []
                for step in range(x.shape[1])[:: -1 if way else 1]:
                    h = self.cell(x[:, step], h, f"l{layer}{'_reverse' if way else ''}")
                    outputs.append(h)
                made.append(torch.stack(outputs[:: -1 if way else 1], 1))
                states.append(h)
            x = torch.cat(made, -1)
        return x, torch.stack(states)

    def cell(self, x, h, name):
        of = lambda what, k: getattr(self, f"{what}_{name}").chunk(3)[k]  # noqa: E731
        bias = lambda k: of("bias_ih", k) + of("bias_hh", k) if self.bias else None  # noqa: E731
        gate = lambda k, state: F.linear(x, of("weight_ih", k), bias(k)) + F.linear(state, of("weight_hh", k))  # noqa: E731
        r, z = torch.sigmoid(gate(0, h)), torch.sigmoid(gate(1, h))
        return (1 - z) * torch.tanh(gate(2, r * h)) + z * h


recurrent.KINDS["gru"] = lambda *args, **more: (GruBefore if RESET == "before" else torch.nn.GRU)(*args, **more)
RESET = "after"


def recurrent_case():
    global RESET
    op, units = PICK.choice(["rnn", "gru", "lstm"]), PICK.randint(1, 6)
    node = {"op": op, "units": units, **some(0.5, layers=PICK.randint(2, 3)), **some(0.5, bidirectional=True),
            **some(0.4, bias=PICK.choice([False, "single"]))}
    if op == "rnn":
        node.update(some(0.4, activation="relu"))
    if op == "gru":
        node.update(some(0.5, reset="before"))
    if op == "lstm" and units > 1:
        node.update(some(0.5, projection=PICK.randint(1, units - 1)))
    RESET = node.get("reset", "after")
    rows, steps, features = PICK.randint(1, 4), PICK.randint(1, 7), PICK.randint(1, 6)
    lengths = [PICK.randint(0, steps) for _ in range(rows)] if PICK.random() < 0.6 else None
    return node, recurrent.tensors_of(PICK.randrange(2**31), node, rows, steps, features, lengths, PICK.random() < 0.6)


def seen(node, ins, rows, queries, keys, prefix=""):
    """[rows, heads or 1, queries, keys]: which keys a query sees."""
    place, key = torch.arange(queries)[:, None] + keys - queries, torch.arange(keys)[None]
    all = torch.ones(rows, 1, queries, keys, dtype=torch.bool)
    if not prefix and node.get("causal"):
        all &= key <= place
    if not prefix and "window" in node:
        all &= (place - key).abs() < node["window"]
    if prefix + "lengths" in ins:
        all &= (key < ins[prefix + "lengths"][:, None])[:, None, None]
    if prefix + "key_mask" in ins:
        all &= ins[prefix + "key_mask"].bool()[:, None, None]
    if not prefix and "documents" in ins:
        d = ins["documents"]
        all &= (d[:, keys - queries :, None] == d[:, None])[:, None]
    return all


def attend(node, ins, q, k, v, prefix=""):
    """q [N,T,heads*d]; a row that sees no key is zeros."""
    heads, kv = node["heads"], node.get("kv_heads", node["heads"])
    (n, t, _), s = q.shape, k.shape[1]
    split = lambda x, h: x.reshape(n, x.shape[1], h, -1).transpose(1, 2)  # noqa: E731
    q, k, v = split(q, heads), split(k, kv).repeat_interleave(heads // kv, 1), split(v, kv).repeat_interleave(heads // kv, 1)
    x = q @ k.transpose(2, 3) * node.get("scale", q.shape[-1] ** -0.5)
    if "soft_cap" in node:
        x = node["soft_cap"] * torch.tanh(x / node["soft_cap"])
    if not prefix and "bias" in ins:
        x = x + ins["bias"]
    if node.get("alibi"):
        distance = (torch.arange(t)[:, None] + s - t - torch.arange(s)[None]).abs()
        x = x - torch.tensor(attention.slopes(heads), dtype=torch.float64)[:, None, None] * distance
    visible = seen(node, ins, n, t, s, prefix)
    some_key = visible.any(-1, keepdim=True)
    y = torch.softmax(x.masked_fill(~visible & some_key, -torch.inf), -1) @ v * some_key
    return y.transpose(1, 2).reshape(n, t, -1)


def multi_head(module, node, ins, q, k, v, prefix=""):
    biases = [None] * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    weights = module.in_proj_weight.chunk(3) if module.in_proj_weight is not None else [
        module.q_proj_weight, module.k_proj_weight, module.v_proj_weight]
    parts = [F.linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases)]
    return module.out_proj(attend(node, ins, *parts, prefix))


class Attend(torch.nn.MultiheadAttention):
    """In the place of those of a transformer's layer."""

    def forward(self, q, k, v, **_):
        return multi_head(self, self.node, self.ins, q, k, v, self.prefix), None


def plain(node, ins):
    """Whether PyTorch's own layer has all of it: one mask, and a key for each query."""
    first = ins.get("q", ins.get("x"))
    keys = ins.get("k", first).shape[1]
    rows, queries = first.shape[:2]
    if "window" in node or "documents" in ins or any(p + "lengths" in ins and p + "key_mask" in ins for p in ("", "memory_")):
        return False
    if "bias" in ins and (node.get("causal") or "lengths" in ins or "key_mask" in ins or ins["bias"].shape != (queries, keys)):
        return False
    memory = ins["memory"].shape[1] if "memory" in ins else 1
    return bool(seen(node, ins, rows, queries, keys).any(-1).all() and seen(node, ins, rows, 1, memory, "memory_").any(-1).all())


def run(module, node, ins):
    op = node["op"]
    if op == "attention":
        return attend(node, ins, ins["q"], ins["k"], ins["v"])
    by_torch = attention.RUN[op](module, node, ins) if plain(node, ins) else None
    if op == "multi_head_attention":
        k = ins.get("k", ins["q"])
        y = multi_head(module, node, ins, ins["q"], k, ins.get("v", k))
    else:
        for name, prefix in (("self_attn", ""), ("multihead_attn", "memory_")):
            if hasattr(module, name):
                part = getattr(module, name)
                part.__class__, part.node, part.ins, part.prefix = Attend, node, ins, prefix
        y = module(ins["x"], *([ins["memory"]] if op == "decoder_layer" else []))
    if by_torch is not None:
        COMPARED.append(float((y - by_torch).detach().abs().max()))
        return by_torch
    return y


COMPARED = []


def masks(rows, keys, prefix="", documents=False):
    whole = lambda *shape, low, high: torch.tensor([PICK.randint(low, high) for _ in range(shape[0] * shape[-1])]).reshape(shape)  # noqa: E731
    ins = {}
    if PICK.random() < 0.35:
        ins[prefix + "lengths"] = torch.tensor([PICK.randint(0, keys) for _ in range(rows)])
    if PICK.random() < 0.25:
        ins[prefix + "key_mask"] = whole(rows, keys, low=0, high=1)
    if documents and PICK.random() < 0.25:
        ins["documents"] = whole(rows, keys, low=0, high=2).sort(1)[0]
    return ins


def biased(rows, heads, queries, keys):
    if PICK.random() > 0.3:
        return {}
    whole = [rows, heads, queries, keys][PICK.choice([0, 1, 2]) :]
    return {"bias": attention.draw(*(size if PICK.random() < 0.8 else 1 for size in whole))}


def sight():
    return {**some(0.5, causal=True), **some(0.3, window=PICK.randint(1, 5))}


def attention_case():
    op = PICK.choice(["attention", "multi_head_attention", "encoder_layer", "decoder_layer"])
    rows, queries, keys = PICK.randint(1, 3), PICK.randint(1, 7), PICK.randint(1, 7)
    kv = PICK.randint(1, 3)
    heads = kv * PICK.randint(1, 3)
    width = PICK.randint(1, 5)
    if op == "attention":
        node = {"op": op, "heads": heads, **sight(), **some(0.7, kv_heads=kv), **some(0.3, scale=PICK.randint(1, 40) / 16),
                **some(0.3, soft_cap=PICK.randint(2, 40) / 8), **some(0.3, alibi=True)}
        ins = attention.qkv(rows, queries, keys, heads, node.get("kv_heads", heads), width, PICK.randint(1, 5))
        ins.update(masks(rows, keys, documents=queries <= keys))
        return node, {**ins, **biased(rows, heads, queries, keys)}, None
    heads = PICK.randint(1, 3)
    features = heads * PICK.randint(4 // heads + 1, 6)
    node = {"op": op, "heads": heads, **sight(), **some(0.3, bias=False)}
    if op == "multi_head_attention":
        ins, sizes, many = {"q": attention.draw(rows, queries, features)}, {}, PICK.choice(["q", "k", "v"])
        keys = queries if many == "q" else keys
        if many == "k":
            ins["k"] = attention.draw(rows, keys, features)
        if many == "v":
            sizes = {"kdim": PICK.randint(1, 6), "vdim": PICK.randint(1, 6)}
            ins["k"], ins["v"] = (attention.draw(rows, keys, size) for size in sizes.values())
        ins.update({**masks(rows, keys, documents=queries <= keys), **biased(rows, heads, queries, keys)})
        module = torch.nn.MultiheadAttention(features, heads, bias=node.get("bias", True), batch_first=True, **sizes)
        return node, ins, module
    node.update({"feedforward": PICK.randint(1, 12), **some(0.5, norm_first=True), **some(0.4, activation="gelu"), **some(0.3, eps=1e-3)})
    ins = {"x": attention.draw(rows, queries, features), **biased(rows, heads, queries, queries)}
    if op == "encoder_layer":
        ins.update(masks(rows, queries, documents=True))
        return node, ins, attention.of_layer(torch.nn.TransformerEncoderLayer, features, node)
    ins.update({"memory": attention.draw(rows, keys, features), **masks(rows, queries), **masks(rows, keys, "memory_")})
    return node, ins, attention.of_layer(torch.nn.TransformerDecoderLayer, features, node)


def main():
    torch.set_num_threads(1)
    count, path = (int(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else (24, HERE / "drawn.safetensors")
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 28
    tensors, described = {}, {}
    for number in range(count):
        PICK.seed(seed * 1000003 + number)
        attention.GENERATOR.manual_seed(seed * 1000003 + number)
        if number % 2:
            node, found = recurrent_case()
            while any(v is not None and v.numel() == 1 for key, v in found.items() if key.startswith("grad.")):
                node, found = recurrent_case()  # one sum, of which rounding may leave little: redrawn
        else:
            by_torch = PICK.random() < 0.5
            node, ins, module = attention_case()
            while by_torch and node["op"] != "attention" and not plain(node, ins):
                node, ins, module = attention_case()
            found = attention.tensors_of(node, ins, module, run)
        for key, v in found.items():
            of = key.removeprefix("grad.")
            if v is None:  # it is never read, as where all lengths are 0
                found[key] = torch.zeros_like(found["start." + of if "start." + of in found else of])
            elif of != key and v.abs().max() < NOTHING:  # as of scores where one key is seen, or of what is added to all of them
                found[key] = torch.zeros_like(v)
        name = f"drawn_{node['op']}_{number}"
        described[name] = json.dumps(node)
        tensors.update({f"{name}/{k}": v.contiguous().numpy() for k, v in found.items()})
    note = f"torch {torch.__version__.split('+')[0]}, seed {seed}, see make_drawn.py"
    write(path, tensors, {"note": note, **described})
    print(f"{count} cases; {len(COMPARED)} of transformers also by PyTorch's own layer, largest difference {max(COMPARED, default=0):.1e}")


if __name__ == "__main__":
    main()
