#!/usr/bin/env python3
"""Makes PyTorch's gradients of mixed trainings: mixed.safetensors beside this file.

    python3 make_mixed.py    # needs torch and numpy; the stored file was made with torch 2.15.0 on a CPU

A network's tensors are called NETWORK/NAME: x and y of KINDS batches, start.P, the parameters, and grad.P, their gradients in
float64 for each batch. The metadata holds for each network its model in bf16, and `NETWORK/error` and `NETWORK/f16_error`:
the root of the normalised mean square error of the gradients under torch.autocast("cpu", dtype=bfloat16), and under
dtype=float16 with torch.amp.GradScaler's first scale of 65536, averaged over batches and parameters.
"""
import json
import pathlib
import struct

import numpy
import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
KINDS, ROWS, CLASSES = 6, 32, 10


class Mlp(nn.Module):
    nodes = [{"name": "fc1", "op": "dense", "units": 48, "activation": "relu"}, {"name": "fc2", "op": "dense", "units": 32, "activation": "gelu"},
             {"name": "fc3", "op": "dense", "units": CLASSES}]
    shape = (64,)

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 48), nn.Linear(48, 32), nn.Linear(32, CLASSES)

    def forward(self, x):
        return self.fc3(nn.functional.gelu(self.fc2(self.fc1(x).relu())))


class Cnn(nn.Module):
    nodes = [{"name": "conv1", "op": "conv2d", "filters": 8, "kernel": 3, "pad": 1}, {"name": "bn1", "op": "batch_norm"}, "relu",
             {"op": "max_pool2d", "window": 2}, {"name": "conv2", "op": "conv2d", "filters": 16, "kernel": 3, "pad": 1}, "relu",
             {"op": "mean", "axis": [1, 2]}, {"name": "fc", "op": "dense", "units": CLASSES}]
    shape = (12, 12, 3)

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.conv2, self.fc = nn.Conv2d(8, 16, 3, padding=1), nn.Linear(16, CLASSES)

    def forward(self, x):
        h = nn.functional.max_pool2d(self.bn1(self.conv1(x.movedim(-1, 1))).relu(), 2)
        return self.fc(self.conv2(h).relu().mean((2, 3)))


def model_of(network):
    inputs = {"x": {"shape": ["N", *network.shape]}, "y": {"shape": ["N"], "dtype": "i32"}}
    nodes = [n if isinstance(n, str) else dict(n) for n in network.nodes]
    nodes[0]["in"] = "x"
    train = {"batch": {"N": ROWS}, "epochs": 1, "loss": {"op": "cross_entropy", "in": [nodes[-1]["name"], "y"]}, "optimizer": "sgd",
             "precision": {"mixed": "bf16"}}
    return json.dumps({"format": "heddle-model/1", "name": "m", "inputs": inputs, "nodes": nodes, "outputs": {"o": nodes[-1]["name"]}, "train": train})


def gradients(module, x, y, dtype=None):
    module.zero_grad()
    scale = 65536 if dtype == torch.float16 else 1
    with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        logits = module(x)
    loss = nn.functional.cross_entropy(logits.float() if dtype else logits, y)
    (loss * scale).backward()
    return {name: p.grad.detach().double().clone() / scale for name, p in module.named_parameters()}


def write(path, tensors, metadata):
    header, data, offset = {"__metadata__": metadata}, b"", 0
    for name, value in tensors.items():
        array = numpy.ascontiguousarray(value)
        kind = {"float32": "F32", "float64": "F64", "int32": "I32"}[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        data, offset = data + array.tobytes(), offset + array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    tensors, metadata = {}, {}
    for name, network in (("mlp", Mlp), ("cnn", Cnn)):
        torch.manual_seed(3)
        module = network()
        x, y = torch.rand(KINDS, ROWS, *network.shape), torch.randint(CLASSES, (KINDS, ROWS))
        tensors |= {f"{name}/x": x.numpy(), f"{name}/y": y.int().numpy()}
        tensors |= {f"{name}/start.{p}": v.detach().numpy().copy() for p, v in module.named_parameters()}
        exact = [gradients(module.double(), x[k].double(), y[k]) for k in range(KINDS)]
        module.float()
        tensors |= {f"{name}/grad.{p}": torch.stack([e[p] for e in exact]).numpy() for p in exact[0]}
        # What a batch norm behind a convolution takes away has no gradient but rounding.
        counted = [p for p in exact[0] if p != "conv1.bias"]
        metadata[name] = model_of(network)
        for key, dtype in (("error", torch.bfloat16), ("f16_error", torch.float16)):
            errors = [{p: (((low[p] - e[p]) ** 2).sum() / (e[p] ** 2).sum()).item() for p in counted}
                      for e, low in ((exact[k], gradients(module, x[k], y[k], dtype)) for k in range(KINDS))]
            error = float(numpy.sqrt(numpy.mean([list(e.values()) for e in errors])))
            metadata[f"{name}/{key}"] = repr(error)
            print(name, key, error, {p: float(numpy.sqrt(numpy.mean([e[p] for e in errors]))) for p in counted})
    write(HERE / "mixed.safetensors", tensors, metadata)


if __name__ == "__main__":
    main()
