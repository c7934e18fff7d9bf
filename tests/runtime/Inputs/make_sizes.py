"""Writes pictures of several sizes in folders of two classes, as PNG and BMP: python3 make_sizes.py FOLDER"""
import pathlib
import struct
import sys
import zlib


def pixels(height, width, seed):
    return [[[(seed * 53 + y * 37 + x * 11 + c * 71 + y * x % 29 * 5) % 256 for c in range(3)] for x in range(width)] for y in range(height)]


def png(rows):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def bmp(rows):
    lines = b"".join((row := bytes(v for r, g, b in line for v in (b, g, r))) + bytes(-len(row) % 4) for line in reversed(rows))
    head = struct.pack("<IiiHHIIiiII", 40, len(rows[0]), len(rows), 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(lines), 0, 0, 54) + head + lines


for number, (height, width) in enumerate([(20, 30), (9, 41), (16, 16), (33, 12), (5, 4), (64, 48), (12, 10), (11, 11)]):
    home = pathlib.Path(sys.argv[1], "sizes", ("day", "night")[number % 2])
    home.mkdir(parents=True, exist_ok=True)
    rows = pixels(height, width, number)
    (home / f"{number}{'.png' if number < 4 else '.BMP'}").write_bytes((png if number < 4 else bmp)(rows))
    for folder, make, end in (("as_png", png, ".png"), ("as_bmp", bmp, ".bmp")):
        same = pathlib.Path(sys.argv[1], folder, home.name)
        same.mkdir(parents=True, exist_ok=True)
        (same / f"{number}{end}").write_bytes(make(rows))
