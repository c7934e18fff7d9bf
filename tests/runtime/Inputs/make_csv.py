"""Writes twelve rows as text in several dialects and as idx, and damaged tables: python3 make_csv.py FOLDER"""
import csv
import gzip
import pathlib
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1])
random.seed(5)
rows = 12
x = [[struct.unpack("f", struct.pack("f", random.gauss(0, 10 ** random.randint(-3, 3))))[0] for _ in range(4)] for _ in range(rows)]
names = ["ant", 'bee, "wild"', "cat\nnip"]
y = [(i * 2) % 3 for i in range(rows)]


def idx(kind, dims, elements):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + elements


(folder / "x.idx").write_bytes(idx(0x0D, [rows, 4], struct.pack(f">{rows * 4}f", *sum(x, []))))
(folder / "y.idx").write_bytes(idx(8, [rows], bytes(y)))

header = ["id", "a", "b", "name, long", "d", "label", "kind"]
table = [[100 + i, *(f"{v:.9g}" for v in x[i]), y[i], names[y[i]]] for i in range(rows)]


def text(delimiter=",", quoting=csv.QUOTE_MINIMAL, end="\n", head=True):
    path = folder / "scratch"
    with open(path, "w", newline="") as f:
        out = csv.writer(f, delimiter=delimiter, quoting=quoting, lineterminator=end)
        out.writerows(([header] if head else []) + table)
    return path.read_bytes()


plain = text()
good = {
    "plain.csv": plain,
    "quoted.csv": text(quoting=csv.QUOTE_ALL),
    "crlf.csv": text(end="\r\n"),
    "tabs.csv": text(delimiter="\t"),
    "semicolons.csv": text(delimiter=";", quoting=csv.QUOTE_NONNUMERIC),
    "headless.csv": text(head=False),
    "mark.csv": b"\xef\xbb\xbf" + plain,
    "no_last_end.csv": plain[:-1],
    "empty_lines.csv": b"\n\r\n" + plain.replace(b"\n101,", b"\n\n\n101,") + b"\n\n",
    "blanks.csv": plain.replace(b"\n103,", b"\n103,  ").replace(b"\n105,", b"\n105,\t"),
    "plain.csv.gz": gzip.compress(plain),
}
lines = plain.split(b"\n")
first = lines[1].split(b",")  # of row 0


def changed(field, value):
    return b"\n".join([lines[0], b",".join([*first[:field], value, *first[field + 1 :]]), *lines[2:]])


damaged = {
    "empty.csv": b"",
    "header_only.csv": lines[0] + b"\n",
    "few.csv": changed(1, b"1").replace(b"\n102,", b"\n"),
    "many.csv": plain.replace(b"\n102,", b"\n102,7,"),
    "word.csv": changed(2, b"abc"),
    "two_points.csv": changed(2, b"1.2.3"),
    "comma.csv": changed(2, b'"1,5"'),
    "hex.csv": changed(2, b"0x10"),
    "infinite.csv": changed(2, b"inf"),
    "too_large.csv": changed(2, b"1e39"),
    "missing.csv": changed(4, b""),
    "na.csv": changed(4, b"NA"),
    "real_label.csv": changed(5, b"1.5"),
    "large_label.csv": changed(5, b"3"),
    "huge_label.csv": changed(5, b"99999999999999999999"),
    "open_quote.csv": lines[0] + b"\n100,1,\"1.5\n",
    "inner_quote.csv": changed(2, b'1"5'),
    "behind_quote.csv": changed(2, b'"1"5'),
    "zero.csv": changed(2, b"1\x00"),
    "return.csv": changed(2, b"1\r5"),
    "unknown_class.csv": changed(6, b"dog"),
    "latin.csv": changed(6, b"\xe9ponge"),
    "binary.csv": bytes(range(256)) * 4,
    "cut.csv.gz": gzip.compress(plain)[:-12],
    "flipped.csv.gz": gzip.compress(plain)[:-8] + b"\0\0\0\0" + gzip.compress(plain)[-4:],
    "twice.csv": plain.replace(b"id,a,b,", b"id,b,b,"),
    "long.csv": b"a" * (17 << 20),
}
for name, content in {**good, **damaged}.items():
    (folder / name).write_bytes(content)
