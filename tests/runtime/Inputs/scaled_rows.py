"""The loss scale of 10,000 steps against its rule, in a few lines.

    scaled_rows.py make DIR                   writes DIR/model.json, DIR/rows.csv and what each row does to a gradient
    scaled_rows.py check LOG RULE             RULE: initial,growth,backoff,interval as the log's model has it

The model is y = x (a weight of 1 that lr = 0 keeps), its loss (y - t)^2 of one row. A row's gradient at y is 2 (y - t) = g, a
power of 2 by which its loss (g / 2)^2 is known again; y's gradient is of f16, and overflows where scale * g >= 65520. A row of
x = 1e6 overflows on its way forward, with every scale.
"""
import json
import math
import pathlib
import random
import struct
import sys

STEPS = 10_000
GRADIENTS = [2.0 ** -k for k in (0, 2, 5, 9)]


def make(folder):
    draw = random.Random(7)
    rows = []
    for _ in range(STEPS):
        g = draw.choices(GRADIENTS + [math.inf], [1, 4, 20, 60, 0.3])[0]
        rows.append("1000000,0" if g == math.inf else f"0.5,{0.5 - g / 2!r}")
    (folder / "rows.csv").write_text("x,t\n" + "\n".join(rows) + "\n")
    model = {"format": "heddle-model/1", "name": "scaled", "inputs": {"x": {"shape": ["N", 1]}, "t": {"shape": ["N", 1]}},
             "nodes": [{"name": "y", "op": "dense", "in": "x", "units": 1, "bias": False, "init": "ones"}], "outputs": {"y": "y"},
             "train": {"batch": {"N": 1}, "epochs": 1, "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": {"op": "sgd", "lr": 0},
                       "precision": {"mixed": "f16"}},
             "data": {"train": {"op": "csv", "file": "rows.csv", "x": "x", "t": "t"}}}
    (folder / "model.json").write_text(json.dumps(model))


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def check(log, initial, growth, backoff, interval):
    steps = [e for e in map(json.loads, pathlib.Path(log).read_text().splitlines()) if e["event"] == "step"]
    assert len(steps) == STEPS, len(steps)
    scale, clean, skips, grown = initial, 0, 0, 0
    for e in steps:
        g = math.inf if e["loss"] is None else 2 * math.sqrt(e["loss"])
        assert g == math.inf or g in GRADIENTS, e
        overflows = scale * g >= 65520
        assert e["loss_scale"] == scale and e.get("skipped", False) == overflows, (e, scale)
        if overflows:
            scale, clean, skips = f32(scale * backoff), 0, skips + 1
        else:
            clean += 1
            if clean == interval:
                scale, clean, grown = f32(scale * growth), 0, grown + 1
    print(f"{len(steps)} steps, {skips} skipped, {grown} times grown, scale {scale!r}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    else:
        initial, growth, backoff, interval = map(float, sys.argv[3].split(","))
        check(sys.argv[2], initial, growth, backoff, interval)
