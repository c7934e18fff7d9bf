"""Weights of foreign_weights.json as another program would have called them: foreign_weights.py OWN OUT [EDIT ...]

Edits: drop=NAME, rename=OLD:NEW, copy=OLD:NEW, change=NAME (its first number), turn=NAME; `shards` writes OUT.1.safetensors,
OUT.2.safetensors and OUT.index.json instead. `data` alone writes the rows that the model reads into the folder OUT.
"""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "support"))
from safetensors_file import Tensor, read, write  # noqa: E402


def turned(t):
    if len(t.shape) != 2:
        return t
    (rows, columns), v = t.shape, t.values()
    return Tensor(t.dtype, [columns, rows], b"".join(struct.pack("<f", v[r * columns + c]) for c in range(columns) for r in range(rows)))


def rows_of(t, begin, end):
    row = len(t.data) // t.shape[0]
    return Tensor(t.dtype, [end - begin, *t.shape[1:]], t.data[begin * row : end * row])


def foreign(own):
    made = {"body.attn.mask": Tensor("F32", [2, 2], bytes(16))}
    for i in range(3):
        for p in ("weight", "bias"):
            made[f"body.layer.{i}.mlp.{p}"] = turned(own[f"h.{i}.fc.{p}"])
    for p in ("weight", "bias"):
        made[f"body.left.{p}"], made[f"body.right.{p}"] = rows_of(own[f"joined.{p}"], 0, 1), rows_of(own[f"joined.{p}"], 1, 5)
        a, b = own[f"first.{p}"], own[f"second.{p}"]
        made[f"body.packed.{p}"] = Tensor(a.dtype, [5, *a.shape[1:]], a.data + b.data)
        made[f"lm_head.{p}"] = own[f"head.{p}"]
    return made


def npy(path, dtype, shape, data):
    head = str({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)


def main(own, out, *edits):
    if own == "data":
        folder = pathlib.Path(out)
        npy(folder / "x.npy", "<f4", (8, 4), struct.pack("<32f", *(((7 * i) % 11 - 5) / 4 for i in range(32))))
        npy(folder / "label.npy", "<i4", (8,), struct.pack("<8i", *(i % 3 for i in range(8))))
        return
    made = foreign(read(own)[1])
    shards = False
    for edit in edits:
        what, _, names = edit.partition("=")
        old, _, new = names.partition(":")
        if what == "drop":
            for name in [n for n in made if n == old or (old.endswith("*") and n.startswith(old[:-1]))]:
                del made[name]
        elif what == "rename":
            made[new] = made.pop(old)
        elif what == "copy":
            made[new] = made[old]
        elif what == "change":
            t = made[old]
            made[old] = Tensor(t.dtype, t.shape, struct.pack("<f", 7) + t.data[4:])
        elif what == "turn":
            made[old] = turned(made[old])
        else:
            assert what == "shards", edit
            shards = True
    if not shards:
        return write(out, made)
    names, folder = sorted(made), pathlib.Path(out)
    parts = {f"{folder.name}.1.safetensors": names[:5], f"{folder.name}.2.safetensors": names[5:]}
    for file, some in parts.items():
        write(folder.parent / file, {n: made[n] for n in some})
    index = {"metadata": {"total_size": 0}, "weight_map": {n: file for file, some in parts.items() for n in some}}
    pathlib.Path(f"{out}.index.json").write_text(json.dumps(index, indent=1))


main(*sys.argv[1:])
