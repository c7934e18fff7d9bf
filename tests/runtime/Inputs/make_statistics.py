"""A model whose input is normalized by the training rows, and the same with rows prepared by hand: make_statistics.py FOLDER

Pictures of 2 x 3 with two channels lie in a border. Means and deviations are computed here in double precision, each operation of
the maps is rounded to f32, as the kernel does it.
"""
import json
import math
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
ROWS, HEIGHT, WIDTH, CHANNELS = 12, 2, 3, 2
NAMES = [f"p{i}" for i in range(HEIGHT * WIDTH * CHANNELS)]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


rows = [[float((r * 37 + i * 11) % 50 + 1000 * (i % CHANNELS)) for i in range(len(NAMES))] for r in range(ROWS)]
mean, std = [], []
for c in range(CHANNELS):
    values = [v for row in rows for v in row[c::CHANNELS]]
    mean.append(math.fsum(values) / len(values))
    std.append(math.sqrt(math.fsum((v - mean[-1]) ** 2 for v in values) / len(values)))


def prepared(row):
    border = [[[-2.0] * CHANNELS for _ in range(WIDTH + 2)] for _ in range(HEIGHT + 2)]
    for i, v in enumerate(row):
        c, x, y = i % CHANNELS, i // CHANNELS % WIDTH, i // CHANNELS // WIDTH
        border[y + 1][x + 1][c] = f32(f32(v - f32(mean[c])) * f32(1 / std[c]))
    return [v for line in border for pixel in line for v in pixel]


def table(name, names, content):
    lines = [",".join(names + ["k"])] + [",".join([repr(v) for v in row] + [str(r % 3)]) for r, row in enumerate(content)]
    (folder / name).write_text("\n".join(lines) + "\n")


ready = [prepared(row) for row in rows]
READY_NAMES = [f"p{i}" for i in range(len(ready[0]))]
table("rows.csv", NAMES, rows)
table("ready.csv", READY_NAMES, ready)
table("few.csv", NAMES, rows[:4])

shape = ["N", HEIGHT + 2, WIDTH + 2, CHANNELS]


def model(name, last, file, maps):
    reader = {"op": "csv", "file": file, "x": f"p0:p{last}", "k": "k"}
    data = {"train": reader, "test": dict(reader, file="few.csv" if maps else file)}
    if maps:
        data["map"] = {"x": maps}
    (folder / name).write_text(json.dumps({
        "format": "heddle-model/1", "name": "statistics",
        "inputs": {"x": {"shape": shape}, "k": {"shape": ["N"], "dtype": "i32"}},
        "nodes": [{"op": "flatten", "in": "x"}, {"name": "logits", "op": "dense", "units": 3}],
        "outputs": {"logits": "logits"},
        "train": {"batch": {"N": 4}, "epochs": 3, "loss": {"op": "cross_entropy", "in": ["logits", "k"]},
                  "optimizer": {"op": "sgd", "lr": 0.1}},
        "data": data}))


model("model.json", len(NAMES) - 1, "rows.csv", ["normalize", {"op": "pad", "pad": 1, "fill": -2}])
model("by_hand.json", len(READY_NAMES) - 1, "ready.csv", None)
print("mean", *(repr(v) for v in mean))
