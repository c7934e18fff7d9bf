#!/usr/bin/env python3
"""Makes the PyTorch outputs that `heddle predict` is compared with: predict_*.safetensors and predictions.json beside this file.

    python3 make_predictions.py HEDDLE    # needs torch; the stored files were made with torch 2.15.0 on a CPU

  predict_torch       weights drawn by PyTorch, of models/digits_cnn.json with few filters
  predict_resnet20    the same, of models/resnet20.json with "let.width" 4, running statistics included
  predict_heddle      weights that Heddle has trained and saved, of the first model

predictions.json has for each the outputs of PyTorch, in f32, for the pictures of tests/support/predictions.py, which are formulas.
"""
import json
import pathlib
import subprocess
import sys

import torch

import make_reference

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "support"))
import predictions  # noqa: E402
import safetensors_file  # noqa: E402


def digits(x, p):
    functional = torch.nn.functional
    h = x.permute(0, 3, 1, 2)
    for layer in ("conv1", "conv2"):
        h = functional.max_pool2d(torch.relu(functional.conv2d(h, p[layer + ".weight"], p[layer + ".bias"])), 2)
    h = torch.relu(functional.linear(h.permute(0, 2, 3, 1).flatten(1), p["fc.weight"], p["fc.bias"]))
    return functional.linear(h, p["logits.weight"], p["logits.bias"])


def resnet20(x, p):
    norm = torch.nn.functional.batch_norm
    torch.nn.functional.batch_norm = lambda *a, training=True: norm(*a, training=False)  # as evaluation has it
    out = make_reference.resnet20(x, p)
    torch.nn.functional.batch_norm = norm
    return out


def drawn(shapes):
    generator = torch.Generator().manual_seed(3)
    out = {}
    for name, shape in shapes.items():
        bound = 2.0 / max(1, torch.Size(shape[1:]).numel()) ** 0.5
        out[name] = (torch.rand(shape, generator=generator) * 2 - 1) * bound
        if len(shape) == 1 and not name.endswith(".bias") and not name.endswith("running_mean"):
            out[name] = out[name].abs() / 4 + 0.5  # a norm's scale, and variances
    return out


DIGITS = {"conv1.weight": (4, 1, 3, 3), "conv1.bias": (4,), "conv2.weight": (8, 4, 3, 3), "conv2.bias": (8,),
          "fc.weight": (16, 200), "fc.bias": (16,), "logits.weight": (10, 16), "logits.bias": (10,)}


def save(name, tensors):
    ordered = dict(sorted(((n, t.numpy()) for n, t in tensors.items()), key=lambda item: -item[1].itemsize))
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for n, a in ordered.items():
        header[n] = dict(dtype={"float32": "F32", "int64": "I64"}[str(a.dtype)], shape=list(a.shape),
                         data_offsets=[at, at + a.nbytes])
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    content = len(text).to_bytes(8, "little") + text + b"".join(a.tobytes() for a in ordered.values())
    (HERE / name).write_bytes(content)


def load(name):
    _, tensors = safetensors_file.read(HERE / name)
    return {n: torch.tensor(t.values()).reshape(t.shape) for n, t in tensors.items()}


def main():
    heddle = sys.argv[1]
    x = torch.tensor(predictions.pictures(predictions.ROWS), dtype=torch.float32)[..., None] / 255
    save("predict_torch.safetensors", drawn(DIGITS))
    shapes = dict(make_reference.resnet20_shapes(4))
    for n, channels in make_reference.resnet20_norms(4):
        shapes[n + ".running_mean"] = shapes[n + ".running_var"] = (channels,)
    resnet = drawn(shapes)
    for n, _ in make_reference.resnet20_norms(4):
        resnet[n + ".num_batches_tracked"] = torch.tensor(7)
    save("predict_resnet20.safetensors", resnet)
    subprocess.run([heddle, "train", "digits_cnn", *predictions.SMALL_DIGITS, "--set", "train.epochs=1", "--save",
                    str(HERE / "predict_heddle.safetensors")], check=True)
    out = {"torch": digits(x, load("predict_torch.safetensors")), "resnet20": resnet20(x, load("predict_resnet20.safetensors")),
           "heddle": digits(x, load("predict_heddle.safetensors"))}
    text = json.dumps({n: [[float(f"{v:.9g}") for v in row] for row in t.tolist()] for n, t in out.items()})
    (HERE / "predictions.json").write_text(text + "\n")
    print({n: float(t.abs().max()) for n, t in out.items()})


if __name__ == "__main__":
    main()
