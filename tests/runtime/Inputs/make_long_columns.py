"""A model of two long columns that its data normalize: make_long_columns.py FOLDER

One holds 0.1 alone, the other 1e16, 1 and -1e16 in turn: its mean is lost where a sum is rounded after each row.
"""
import json
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
ROWS = 99_999


def npy(name, dtype, code, columns, values):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({ROWS}, {columns}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{code}", *values)
    (folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


values = []
for row in range(ROWS):
    values += [0.1, (1e16, 1, -1e16)[row % 3]]
npy("x.npy", "<f8", "d", 2, values)
npy("t.npy", "<f8", "d", 1, [float(row % 3) for row in range(ROWS)])
model = {
    "format": "heddle-model/1",
    "name": "long",
    "inputs": {"x": {"shape": ["N", 2], "dtype": "f64"}, "t": {"shape": ["N", 1]}},
    "nodes": [{"op": "cast", "dtype": "f32", "in": "x"}, {"name": "y", "op": "dense", "units": 1}],
    "train": {"batch": {"N": 8}, "steps": 1, "loss": {"op": "mse", "in": ["y", "t"]}, "optimizer": "sgd"},
    "data": {"train": {"op": "npy", "x": "x.npy", "t": "t.npy"}, "map": {"x": ["normalize"]}},
}
(folder / "long.json").write_text(json.dumps(model))
