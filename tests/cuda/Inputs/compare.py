"""Two weight files, or the losses of two logs, within a relative difference: compare.py A B LIMIT"""
import json
import struct
import sys


def read_weights(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    values = []
    for name in sorted(header):
        if name != "__metadata__":
            begin, end = (8 + size + o for o in header[name]["data_offsets"])
            values += struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return values


def read_losses(path):
    return [line["loss"] for line in map(json.loads, open(path)) if line["event"] == "step"]


read = read_losses if sys.argv[1].endswith(".jsonl") else read_weights
a, b, limit = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
assert len(a) == len(b) > 0, (len(a), len(b))
scale = max(map(abs, a))
worst = max(abs(x - y) for x, y in zip(a, b)) / scale
assert worst <= limit, f"{worst} of the largest"
