"""Writes tables of rows of which one in twenty is of the second class, and a model that learns how frequent it is: python3 make_drawn_rows.py FOLDER"""
import json
import pathlib
import struct
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
# Of weight 19 * 0.25 / 0.75 the rows of "yes" are a quarter of what is drawn.
rows = [(0, "yes" if i % 20 == 7 else "no", round(19 / 3, 6) if i % 20 == 7 else 1) for i in range(400)]
extra = [(0, "no", -1)] * 30
for name, table in (("rows", rows), ("more", extra[:10] + rows[:100] + extra[10:] + rows[100:]), ("one", rows[:1])):
    (folder / f"{name}.csv").write_text("x,kind,worth,one\n" + "".join(f"{x},{k},{w},1\n" for x, k, w in table))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps({"x": x, "kind": k, "worth": w}) + "\n" for x, k, w in table))
folder.joinpath("bad.csv").write_text("x,kind,negative,zero,huge,nan,one,word\n" + "0,no,1,0,1e308,1,1,a\n0,yes,-1,0,1e308,nan,1,b\n" * 8)


def npy(dtype, values, code):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (dtype, len(values))
    head += " " * (64 - (len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values)


with zipfile.ZipFile(folder / "bad.npz", "w") as archive:
    archive.writestr("x.npy", npy("<f4", [1, 2, float("nan"), 4] * 4, "f"))
    archive.writestr("y.npy", npy("<i4", [0, 1, 0, 1] * 4, "i"))
model = {
    "format": "heddle-model/1", "name": "shares", "inputs": {"x": {"shape": ["N", 1]}, "y": {"shape": ["N"], "dtype": "i32"}},
    "nodes": [{"name": "nothing", "op": "mul", "in": ["x", 0.0]}, {"name": "logits", "op": "dense", "units": 2}, {"name": "p", "op": "softmax"}],
    "outputs": {"p": "p"},
    "train": {"batch": {"N": 16}, "epochs": 16, "loss": {"op": "cross_entropy", "in": ["logits", "y"]},
              "optimizer": {"op": "adam", "lr": {"op": "linear", "peak": 0.05}}},
    "data": {"train": {"op": "csv", "file": "rows.csv", "x": "x", "y": "kind", "classes": {"y": ["no", "yes"]}}},
}
folder.joinpath("shares.json").write_text(json.dumps(model, indent=1))
