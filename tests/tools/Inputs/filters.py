"""Inputs of filters.hir, and whether what came out fits them: filters.py write|check FILE."""

import json
import struct
import sys

IMAGE = [1.0, 10.0, 100.0] * 4  # by channel
FILTERS = [float(i) for i in range(12)]  # [2,3,1,2]


def write(path):
    header, data = {}, b""
    for name, shape, values in (("f/x", [1, 2, 2, 3], IMAGE), ("f/w", [2, 3, 1, 2], FILTERS)):
        piece = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    floats = lambda t: list(struct.unpack(f"<{(t[1] - t[0]) // 4}f", data[t[0]:t[1]]))  # noqa: E731
    return {name: (t["shape"], floats(t["data_offsets"])) for name, t in header.items() if name != "__metadata__"}


def check(path):
    found = read(path)
    assert found["f/w"] == ([2, 3, 1, 2], [-v for v in FILTERS]), found["f/w"]
    sums = [sum(FILTERS[6 * o + 2 * i + k] * 10.0**i for i in range(3) for k in range(2)) for o in range(2)]
    assert found["f/0"] == ([1, 2, 1, 2], sums * 2), found["f/0"]


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
