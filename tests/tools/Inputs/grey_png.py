#!/usr/bin/env python3
"""Writes grey pictures of 28 x 28, each another: grey_png.py FILE..."""
import struct
import sys
import zlib


def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


for number, path in enumerate(sys.argv[1:]):
    rows = b"".join(b"\0" + bytes((i * j * (number + 1)) % 256 for j in range(28)) for i in range(28))
    head = struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
