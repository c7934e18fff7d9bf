"""Training rows for the models without a download: idx files that are the same on every machine.

usage: make_data.py FOLDER [ROWS]

Pictures of 28 x 28 whose highest bit follows the label, so that losses fall; three numbers and two targets for tiny_mlp.
"""
import pathlib
import random
import struct
import sys

SIDE, CLASSES = 28, 10
UBYTE, FLOAT = 8, 13


def idx(kind, dims, elements):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + elements


def pictures(draw, labels):
    size = SIDE * SIDE
    high = int.from_bytes(b"\x80" * size, "big")
    low = int.from_bytes(b"\x7f" * size, "big")
    templates = [draw.getrandbits(8 * size) & high for _ in range(CLASSES)]
    return b"".join((templates[label] | draw.getrandbits(8 * size) & low).to_bytes(size, "big") for label in labels)


def main():
    folder, rows = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 25600
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    labels = bytes(draw.randrange(CLASSES) for _ in range(rows))
    x = [draw.uniform(-1, 1) for _ in range(3 * rows)]
    targets = [t for a, b, c in zip(x[0::3], x[1::3], x[2::3]) for t in (a * b, b - c)]
    files = {
        "images": idx(UBYTE, [rows, SIDE, SIDE], pictures(draw, labels)),
        "labels": idx(UBYTE, [rows], labels),
        "x": idx(FLOAT, [rows, 3], struct.pack(f">{len(x)}f", *x)),
        "targets": idx(FLOAT, [rows, 2], struct.pack(f">{len(targets)}f", *targets)),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


main()
