#!/usr/bin/env python3
"""Makes PyTorch's numbers for attention and the layers around it: attention.safetensors beside this file.

    python3 make_attention.py    # needs torch and numpy; the stored file was made with torch 2.15.0 on a CPU

Everything is in float64, from numbers that are float32. Where PyTorch has no such setting (window, soft cap, ALiBi, documents,
rotary), the formula of its paper is written out here. A case's tensors are called CASE/NAME:

  in.P              what the node's input P reads; integers are inputs of the model, other numbers have gradients
  start.P, grad.P   parameters and their gradients; grad.in.P of inputs
  y, r.y            the result, and what it is multiplied with before all is summed: the loss

The metadata holds each case's node, without name and input.
"""
import json
import math
import pathlib

import torch
from torch.nn import functional as F

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
GENERATOR = torch.Generator().manual_seed(28)


def draw(*shape, scale=1.0):
    return f32(torch.randn(shape, generator=GENERATOR).double() * scale).requires_grad_()


def slopes(heads):
    """As in the code of Press et al. 2022."""
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    if math.log2(heads).is_integer():
        return of_power(heads)
    power = 2 ** math.floor(math.log2(heads))
    return of_power(power) + of_power(2 * power)[0::2][: heads - power]


def attention(node, ins):
    heads, kv = node["heads"], node.get("kv_heads", node["heads"])
    q, k, v = ins["q"], ins["k"], ins["v"]
    (n, t, _), s = q.shape, k.shape[1]
    split = lambda x, h: x.reshape(n, x.shape[1], h, -1).transpose(1, 2)  # noqa: E731
    q, k, v = split(q, heads), split(k, kv), split(v, kv)
    place, key = torch.arange(t)[:, None] + s - t, torch.arange(s)[None]
    seen = torch.ones(n, 1, t, s, dtype=torch.bool)
    if node.get("causal"):
        seen &= key <= place
    if "window" in node:
        seen &= (place - key).abs() < node["window"]
    if "lengths" in ins:
        seen &= (key < ins["lengths"][:, None])[:, None, None]
    if "key_mask" in ins:
        seen &= ins["key_mask"].bool()[:, None, None]
    if "documents" in ins:
        d = ins["documents"]
        seen &= (d[:, s - t :, None] == d[:, None])[:, None]
    bias = torch.zeros(n, heads, t, s).double()
    if "bias" in ins:
        bias = bias + ins["bias"]
    if node.get("alibi"):
        bias = bias - torch.tensor(slopes(heads), dtype=torch.float64)[:, None, None] * (place - key).abs()
    if "soft_cap" not in node:
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.masked_fill(~seen, -math.inf), scale=node.get("scale"),
                                           enable_gqa=kv != heads)
    else:
        k, v = (x.repeat_interleave(heads // kv, 1) for x in (k, v))
        c = node["soft_cap"]
        x = c * torch.tanh(q @ k.transpose(2, 3) * node.get("scale", q.shape[-1] ** -0.5) / c) + bias
        y = torch.softmax(x.masked_fill(~seen, -math.inf), 3).nan_to_num(0.0) @ v
    return y.transpose(1, 2).reshape(n, t, -1)


def rotary(node, ins):
    x, heads = ins["x"], node["heads"]
    n, t, e = x.shape
    x = x.reshape(n, t, heads, -1)
    width = node.get("width", x.shape[-1])
    place = ins.get("positions", torch.arange(t).expand(n, t)).double()
    angle = place[:, :, None, None] * node.get("base", 10000.0) ** (-torch.arange(0, width, 2).double() / width)
    turn = torch.polar(torch.ones_like(angle), angle)
    first = x[..., :width]
    if node.get("pairs") == "neighbours":
        pairs = torch.view_as_complex(first.reshape(*first.shape[:-1], -1, 2).contiguous())
        turned = torch.view_as_real(pairs * turn).flatten(-2)
    else:
        z = torch.complex(first[..., : width // 2], first[..., width // 2 :]) * turn
        turned = torch.cat([z.real, z.imag], -1)
    return torch.cat([turned, x[..., width:]], -1).reshape(n, t, e)


def sinusoidal(node, ins):
    n, t, e = ins["x"].shape
    place = ins.get("positions", torch.arange(t).expand(n, t)).double()
    angle = place[..., None] * torch.exp(torch.arange(0, e, 2).double() * (-math.log(node.get("base", 10000.0)) / e))
    return ins["x"] + torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def masks(ins, node, prefix=""):
    """What torch.nn's modules take as attn_mask and key_padding_mask."""
    first = ins.get("q", ins.get("x"))
    keys = ins.get("memory" if prefix else "k", first).shape[1]
    hidden = None
    if prefix + "lengths" in ins:
        hidden = torch.arange(keys)[None] >= ins[prefix + "lengths"][:, None]
    if prefix + "key_mask" in ins:
        hidden = ~ins[prefix + "key_mask"].bool()
    causal = None
    if not prefix and node.get("causal"):
        causal = torch.ones(first.shape[1], keys, dtype=torch.bool).triu(1 + keys - first.shape[1])
    if not prefix and "bias" in ins:
        causal = ins["bias"]
    return causal, None if hidden is None else hidden


def multi_head(module, node, ins):
    k = ins.get("k", ins["q"])
    mask, hidden = masks(ins, node)
    return module(ins["q"], k, ins.get("v", k), attn_mask=mask, key_padding_mask=hidden, need_weights=False)[0]


def encoder(module, node, ins):
    mask, hidden = masks(ins, node)
    return module(ins["x"], src_mask=mask, src_key_padding_mask=hidden)


def decoder(module, node, ins):
    mask, hidden = masks(ins, node)
    of_memory = masks(ins, node, "memory_")[1]
    return module(ins["x"], ins["memory"], tgt_mask=mask, tgt_key_padding_mask=hidden, memory_key_padding_mask=of_memory)


def of_layer(kind, width, node):
    return kind(width, node["heads"], node.get("feedforward", 2048), 0.0, node.get("activation", "relu"), batch_first=True,
                norm_first=node.get("norm_first", False), bias=node.get("bias", True), layer_norm_eps=node.get("eps", 1e-5))


def qkv(n, t, s, heads, kv, d, e=None):
    return {"q": draw(n, t, heads * d), "k": draw(n, s, kv * d), "v": draw(n, s, kv * (e or d))}


def cases():
    lengths = torch.tensor
    yield {"op": "attention", "heads": 2}, qkv(2, 5, 5, 2, 2, 3), None
    yield {"op": "attention", "heads": 1, "causal": True}, qkv(1, 1, 1, 1, 1, 1), None
    yield {"op": "attention", "heads": 2, "causal": True, "scale": 0.3}, qkv(2, 7, 7, 2, 2, 4), None
    yield {"op": "attention", "heads": 4, "kv_heads": 2, "causal": True}, qkv(2, 3, 8, 4, 2, 5, 3), None
    yield {"op": "attention", "heads": 4, "kv_heads": 1}, qkv(2, 6, 4, 4, 1, 3), None
    yield {"op": "attention", "heads": 2}, {**qkv(3, 4, 6, 2, 2, 3), "lengths": lengths([6, 1, 3])}, None
    yield {"op": "attention", "heads": 2}, {**qkv(2, 4, 5, 2, 2, 3), "key_mask": torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 0, 1]], dtype=torch.int64)}, None
    yield {"op": "attention", "heads": 2, "causal": True, "soft_cap": 1.5}, {**qkv(2, 6, 6, 2, 2, 3), "documents": lengths([[0, 0, 0, 1, 1, 2], [3, 3, 4, 4, 4, 4]])}, None
    yield {"op": "attention", "heads": 2, "causal": True, "window": 3}, qkv(2, 8, 8, 2, 2, 3), None
    yield {"op": "attention", "heads": 2, "window": 2}, qkv(1, 6, 6, 2, 2, 3), None
    yield {"op": "attention", "heads": 2}, {**qkv(2, 4, 5, 2, 2, 3), "bias": draw(2, 4, 5)}, None
    yield {"op": "attention", "heads": 3, "causal": True}, {**qkv(2, 4, 4, 3, 3, 2), "bias": draw(2, 1, 4, 4)}, None
    yield {"op": "attention", "heads": 4, "causal": True, "alibi": True}, qkv(2, 5, 5, 4, 4, 3), None
    yield {"op": "attention", "heads": 6, "alibi": True, "soft_cap": 0.7}, qkv(1, 5, 7, 6, 6, 2), None
    yield {"op": "attention", "heads": 2, "causal": True}, qkv(1, 150, 150, 2, 2, 16), None
    yield {"op": "attention", "heads": 2, "causal": True, "window": 70}, {**qkv(2, 90, 140, 2, 2, 20, 7), "lengths": lengths([140, 75])}, None
    yield {"op": "rotary", "heads": 2}, {"x": draw(2, 5, 16)}, None
    yield {"op": "rotary", "heads": 2, "pairs": "neighbours", "base": 500.0}, {"x": draw(2, 5, 16)}, None
    yield {"op": "rotary", "heads": 2, "width": 4}, {"x": draw(2, 5, 20), "positions": lengths([[0, 1, 2, 0, 1], [5, 6, 7, 8, 9]])}, None
    yield {"op": "rotary", "heads": 1, "width": 6, "pairs": "neighbours"}, {"x": draw(1, 4, 8)}, None
    yield {"op": "sinusoidal_positions"}, {"x": draw(2, 7, 6)}, None
    yield {"op": "sinusoidal_positions", "base": 100.0}, {"x": draw(2, 3, 8), "positions": lengths([[0, 1, 0], [2, 3, 4]])}, None
    mha = lambda width, heads, **more: torch.nn.MultiheadAttention(width, heads, batch_first=True, **more)  # noqa: E731
    yield {"op": "multi_head_attention", "heads": 2}, {"q": draw(2, 5, 6)}, mha(6, 2)
    yield {"op": "multi_head_attention", "heads": 3, "causal": True, "bias": False}, {"q": draw(2, 4, 6)}, mha(6, 3, bias=False)
    yield {"op": "multi_head_attention", "heads": 2}, {"q": draw(2, 3, 6), "k": draw(2, 5, 6), "lengths": lengths([5, 2])}, mha(6, 2)
    yield {"op": "multi_head_attention", "heads": 2}, {"q": draw(2, 3, 6), "k": draw(2, 5, 4), "v": draw(2, 5, 7)}, mha(6, 2, kdim=4, vdim=7)
    yield {"op": "multi_head_attention", "heads": 2}, {"q": draw(2, 3, 6), "bias": draw(3, 3)}, mha(6, 2)
    for first in (False, True):
        node = {"op": "encoder_layer", "heads": 2, "feedforward": 10, "norm_first": first}
        yield node, {"x": draw(2, 5, 6), "lengths": lengths([3, 5])}, of_layer(torch.nn.TransformerEncoderLayer, 6, node)
        node = {"op": "decoder_layer", "heads": 3, "feedforward": 8, "norm_first": first, "causal": True, "activation": "gelu"}
        yield node, {"x": draw(2, 4, 6), "memory": draw(2, 5, 6), "memory_lengths": lengths([2, 5])}, of_layer(torch.nn.TransformerDecoderLayer, 6, node)
    node = {"op": "encoder_layer", "heads": 2, "feedforward": 10, "causal": True, "bias": False, "eps": 1e-3}
    yield node, {"x": draw(2, 5, 6)}, of_layer(torch.nn.TransformerEncoderLayer, 6, node)


RUN = {"multi_head_attention": multi_head, "encoder_layer": encoder, "decoder_layer": decoder}
FUNCTIONS = {"attention": attention, "rotary": rotary, "sinusoidal_positions": sinusoidal}


def result_of(module, node, ins):
    return FUNCTIONS[node["op"]](node, ins) if module is None else RUN[node["op"]](module, node, ins)


def tensors_of(node, ins, module, result=result_of):
    if module is not None:
        module = module.double()
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(f32(torch.rand(p.shape, generator=GENERATOR).double() * 1.6 - 0.8))
    y = result(module, node, ins)
    r = draw(*y.shape).detach()
    (y * r).sum().backward()
    out = {"y": y.detach(), "r.y": r}
    for name, x in ins.items():
        out[f"in.{name}"] = x.detach().to(torch.int64) if x.dtype == torch.int64 else x.detach()
        if x.requires_grad:
            out[f"grad.in.{name}"] = x.grad
    for name, p in module.named_parameters() if module is not None else []:
        out[f"start.{name}"], out[f"grad.{name}"] = p.detach(), p.grad
    return out


def main():
    torch.set_num_threads(1)
    tensors, described = {}, {}
    for number, (node, ins, module) in enumerate(cases()):
        name = f"{node['op']}_{number}"
        described[name] = json.dumps(node)
        tensors.update({f"{name}/{k}": v.contiguous().numpy() for k, v in tensors_of(node, ins, module).items()})
    write(HERE / "attention.safetensors", tensors, {"note": f"torch {torch.__version__.split('+')[0]}, see make_attention.py", **described})
    print(len(described), "cases")


if __name__ == "__main__":
    main()
