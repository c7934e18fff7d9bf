"""Writes pictures of 8 x 6 in folders of classes, and the same values as idx: python3 make_pictures.py FOLDER

PNG is written by its format's definition (RFC 2083): no library is needed. A JPEG is small enough to stand here.
"""
import os
import pathlib
import shutil
import struct
import sys
import zlib

folder = pathlib.Path(sys.argv[1])
HEIGHT, WIDTH = 8, 6


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(pixels, channels, depth=8, palette=None):
    """Rows of bytes, each with filter 0."""
    colour = 3 if palette else {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    wide = len(pixels) // HEIGHT
    lines = b"".join(b"\0" + pixels[y * wide : (y + 1) * wide] for y in range(HEIGHT))
    parts = chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour, 0, 0, 0))
    if palette:
        parts += chunk(b"PLTE", palette)
    return b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def idx(kind, dims, elements):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + elements


def pixels_of(row):
    return bytes((row * 37 + i * 11) % 256 for i in range(HEIGHT * WIDTH * 3))


names = ["apple", "pear", "plum"]
rows = [(c, i) for c in range(3) for i in range(3)]
for sub in ("train", "one", "empty", "bare"):
    shutil.rmtree(folder / sub, ignore_errors=True)
(folder / "empty").mkdir()
(folder / "bare/apple").mkdir(parents=True)
for c, i in rows:
    home = folder / "train" / names[c]
    home.mkdir(parents=True, exist_ok=True)
    (home / f"{i}.png").write_bytes(png(pixels_of(c * 3 + i), 3))
    (home / "notes.txt").write_text("no picture")
(folder / "train/.hidden").mkdir()
(folder / "x.idx").write_bytes(idx(8, [9, HEIGHT, WIDTH, 3], b"".join(pixels_of(r) for r in range(9))))
(folder / "y.idx").write_bytes(idx(8, [9], bytes(c for c, _ in rows)))

# One picture of the class plum: what a split without the other classes holds.
(folder / "one/plum").mkdir(parents=True)
(folder / "one/plum/a.PNG").write_bytes(png(pixels_of(6), 3))
(folder / "one_x.idx").write_bytes(idx(8, [1, HEIGHT, WIDTH, 3], pixels_of(6)))
(folder / "one_y.idx").write_bytes(idx(8, [1], b"\2"))

good = png(pixels_of(0), 3)
at = good.index(b"IDAT") + 8
damaged = {
    "cut": good[: len(good) // 2],
    "flipped": good[:at] + bytes([good[at] ^ 255]) + good[at + 1 :],
    "text": b"no picture at all",
    "empty": b"",
    "huge": good[:16] + struct.pack(">II", 2**30, 2**30) + good[24:],
    "wide": b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 7, 8, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress((b"\0" + bytes(21)) * 8)) + chunk(b"IEND", b""),
    "jpeg": b"\xff\xd8\xff\xe0" + bytes(40),
}
for name, content in damaged.items():
    home = folder / f"bad_{name}" / "apple"
    shutil.rmtree(home.parent, ignore_errors=True)
    home.mkdir(parents=True)
    (home / "0.png").write_bytes(good)
    (home / "1.png").write_bytes(content)

for name, place in {"avif": "apple/2.AVIF", "archive": "__MACOSX/._0.png"}.items():
    home = folder / f"odd_{name}"
    shutil.rmtree(home, ignore_errors=True)
    for path in ("apple/0.png", "pear/0.png", place):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(good)
shutil.rmtree(folder / "odd_name", ignore_errors=True)
os.makedirs(os.fsencode(folder / "odd_name") + b"/caf\xe9")

# Other forms of one grey picture: values 0, 17, ... of 4 bits, so that a palette and 16 bits can say them.
grey = bytes((i * 7 % 16) * 17 for i in range(HEIGHT * WIDTH))
forms = {
    "grey": png(grey, 1),
    "rgb": png(bytes(v for g in grey for v in (g, g, g)), 3),
    "rgba": png(bytes(v for g in grey for v in (g, g, g, 255)), 4),
    "deep": png(bytes(v for g in grey for v in (g, g)), 1, depth=16),
    "palette": png(bytes(g // 17 for g in grey), 1, palette=bytes(v for k in range(16) for v in (k * 17,) * 3)),
    "bits": png(bytes((grey[i] // 17) << 4 | grey[i + 1] // 17 for i in range(0, len(grey), 2)), 1, depth=4),
}
for name, content in forms.items():
    home = folder / f"form_{name}" / "apple"
    home.mkdir(parents=True, exist_ok=True)
    (home / "0.png").write_bytes(content)
(folder / "grey.idx").write_bytes(idx(8, [1, HEIGHT, WIDTH], grey))
(folder / "zero.idx").write_bytes(idx(8, [1], b"\0"))
