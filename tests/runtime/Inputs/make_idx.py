"""Writes ten rows of good data and damaged variants of it: python3 make_idx.py FOLDER"""
import gzip
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])


def idx(kind, dims, elements):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + elements


pixels = bytes(range(40))
labels = bytes(i % 3 for i in range(10))
good = idx(8, [10, 2, 2], pixels)
squeezed = gzip.compress(good)
files = {
    "images": good,
    "labels": idx(8, [10], labels),
    "text.txt": b"text, not numbers",
    "empty": b"",
    "half_header": good[:9],
    "short": good[:-1],
    "long": good + b"x",
    "plain.gz": good,
    "cut.gz": squeezed[:-12],
    "joined.gz": gzip.compress(good[:20]) + gzip.compress(good[20:]),
    "behind.gz": squeezed + b"x",
    "zeros.gz": squeezed + bytes(512),
    "flipped.gz": squeezed[:-8] + bytes([squeezed[-8] ^ 1]) + squeezed[-7:],
    "type": idx(7, [10, 2, 2], pixels),
    "rank": idx(8, [], b""),
    "huge": idx(8, [10] + [2**32 - 1] * 4, b""),
    "wide": idx(8, [10, 5], bytes(50)),
    "few": idx(8, [9, 4], bytes(36)),
    "labels3": idx(8, [10], labels[:7] + b"\3" + labels[8:]),
    "labels5": idx(8, [10], bytes(i % 5 for i in range(10))),
    "one_ignored": idx(0x0C, [10], struct.pack(">10i", 0, 1, 2, 0, -100, 2, 0, 1, 2, 0)),
    "ignored": idx(0x0C, [10], struct.pack(">10i", *[-100] * 10)),
    "nan": idx(0x0D, [10, 2, 2], struct.pack(">28f", *range(28)) + struct.pack(">12f", *[float("nan")] * 12)),
    "floats": idx(0x0D, [10, 2, 2], struct.pack(">40f", *range(40))),
    "labels64": idx(0x0C, [10], struct.pack(">10i", *labels)),
    "float_labels": idx(0x0D, [10], bytes(40)),
}
for name, content in files.items():
    (folder / name).write_bytes(content)
