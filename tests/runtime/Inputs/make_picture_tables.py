"""Writes pictures of several sizes, masks beside them, and tables that name both: python3 make_picture_tables.py FOLDER

photo.npy, outline.npy and price.npy hold the same rows as arrays, of 6 x 4 pixels: pictures
themselves, masks of twice the sides by the nearest pixel.
"""
import json
import pathlib
import struct
import sys
import zlib


def png(rows, colours, bits=8, palette=b""):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    def line(row):
        if bits == 8:
            return bytes(row)
        packed = int("".join(format(v, f"0{bits}b") for v in row).ljust(-(-len(row) * bits // 8) * 8, "0"), 2)
        return packed.to_bytes(-(-len(row) * bits // 8), "big")

    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, colours, 0, 0, 0)
    lines = b"".join(b"\0" + line(row) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + (chunk(b"PLTE", palette) if palette else b"") + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def npy(path, kind, shape, content):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust((len(head) + 74) // 64 * 64 - 11) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + content)


home = pathlib.Path(sys.argv[1])
(home / "clips").mkdir(parents=True, exist_ok=True)
PALETTE = bytes(v for i in range(4) for v in (i * 60, 255 - i * 60, 7))  # no luminance of which is its number
pixels, classes, table, lines = b"", b"", ["photo,outline,price"], []
for n in range(12):
    grey = [[(n * 53 + y * 37 + x * 11) % 200 for x in range(4)] for y in range(6)]
    mask = [[(n + y * 2 + x) % 3 for x in range(4)] for y in range(6)]
    pixels += bytes(v for row in grey for v in row)
    classes += bytes(v for row in mask for v in row)
    twice = lambda rows: [[rows[y // 2][x // 2] for x in range(8)] for y in range(12)]
    large = n % 2 == 1  # of twice the sides: stretched, each pixel is one of the small picture again
    kinds = [(3, 2, PALETTE), (0, 8, b""), (3, 8, PALETTE), (0, 2, b"")]
    colours, bits, palette = kinds[n % 4]
    (home / f"clips/{n}.png").write_bytes(png(grey, 0))
    (home / f"clips/{n}_mask.png").write_bytes(png(twice(mask) if large else mask, colours, bits, palette))
    table.append(f'clips/{n}.png,"clips/{n}_mask.png",{n}')
    lines.append(json.dumps({"photo": f"clips/{n}.png", "outline": f"clips/{n}_mask.png", "price": n}))
(home / "rows.csv").write_text("\n".join(table) + "\n")
(home / "rows.jsonl").write_text("\n".join(lines) + "\n")
npy(home / "photo.npy", "|u1", "(12, 6, 4)", pixels)
npy(home / "outline.npy", "|u1", "(12, 6, 4)", classes)
npy(home / "price.npy", "<f4", "(12,)", struct.pack("<12f", *range(12)))
(home / "colours.png").write_bytes(png([[0, 1, 2] * 4] * 6, 2))
(home / "deep.png").write_bytes(png([[0, 1, 2, 0]] * 6, 0, 16))
(home / "cut.png").write_bytes((home / "clips/0_mask.png").read_bytes()[:60])
(home / "text.png").write_text("no picture\n")
