"""Writes a table of texts, and one of the numbers that XXH64 makes of them: python3 make_hash.py FOLDER

XXH64 is written from its specification, for texts of up to 31 bytes.
"""
import json
import pathlib
import random
import sys

folder = pathlib.Path(sys.argv[1])
pick = random.Random(2)
MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def turn(x, by):
    return (x << by | x >> (64 - by)) & MASK


def xxh64(data):
    assert len(data) < 32
    h = (P5 + len(data)) & MASK
    while len(data) >= 8:
        lane, data = int.from_bytes(data[:8], "little"), data[8:]
        h = (turn(h ^ turn(lane * P2 & MASK, 31) * P1 & MASK, 27) * P1 + P4) & MASK
    if len(data) >= 4:
        lane, data = int.from_bytes(data[:4], "little"), data[4:]
        h = (turn(h ^ lane * P1 & MASK, 23) * P2 + P3) & MASK
    for byte in data:
        h = turn(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


assert (xxh64(b""), xxh64(b"abc")) == (0xEF46DB3751D8E999, 0x44BC2CF5AD770999)
texts = ["".join(pick.choice("abcdefgh \u00e4\u20ac") for _ in range(pick.randrange(1, 12))).strip() or "x" for _ in range(40)]
rows = [(text, f"u{i % 7}", i % 3) for i, text in enumerate(texts)]
numbers = [(xxh64(a.encode()) % 50, xxh64(b.encode()) % 50, y) for a, b, y in rows]
for name, table in (("words", rows), ("numbers", numbers), ("new", [("never seen", "u99", 0), ("\u00e4", "u1", 1)])):
    (folder / f"{name}.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in table), encoding="utf-8")
    (folder / f"{name}.jsonl").write_text("".join(json.dumps({"a": a, "b": b, "y": y, "ab": [a, b]}) + "\n" for a, b, y in table))
ids = [{"a": xxh64(a.encode()) % 50, "b": xxh64(b.encode()) % 50} for a, b in (("never seen", "u99"), ("\u00e4", "u1"))]
(folder / "ids").write_text("".join(json.dumps({"ids": [i["a"], i["b"]]}) + "\n" for i in ids))
folder.joinpath("hole.csv").write_text("a,b,y\nx,,1\n")
folder.joinpath("latin.csv").write_bytes(b"a,b,y\n\xe4,u,1\n")
model = {
    "format": "heddle-model/1", "name": "hashes", "inputs": {"ab": {"shape": ["N", 2], "dtype": "i32"}, "y": {"shape": ["N"], "dtype": "i32"}},
    "nodes": [
        {"name": "ids", "op": "cast", "in": "ab", "dtype": "f32"}, {"name": "table", "op": "embedding", "in": "ab", "vocab": 50, "units": 4},
        {"op": "flatten"}, {"name": "logits", "op": "dense", "units": 3},
    ],
    "outputs": {"ids": "ids"},
    "train": {"batch": {"N": 8}, "epochs": 2, "loss": {"op": "cross_entropy", "in": ["logits", "y"]}, "optimizer": "adam"},
    "data": {"train": {"op": "csv", "file": "words.csv", "ab": "a:b", "y": "y", "hash": {"ab": 50}}},
}
folder.joinpath("model.json").write_text(json.dumps(model, indent=1))
