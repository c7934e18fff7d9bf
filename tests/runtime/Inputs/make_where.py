"""Writes tables and those of their rows that Python's `if` takes: python3 make_where.py FOLDER"""
import json
import pathlib
import random
import sys

folder = pathlib.Path(sys.argv[1])
pick = random.Random(5)
COLUMNS = ["size", "kind", "petal width", "when", "flag", "y"]


def row(i):
    size = "" if i % 9 == 4 else round(pick.uniform(-4, 8), 2)
    kind = pick.choice(["ant", "bee", "cow", "it's"])
    width = round(pick.uniform(0, 3), 1)
    when = f"20{pick.randrange(20, 26)}-0{pick.randrange(1, 10)}-1{pick.randrange(10)}"
    return {"size": size, "kind": kind, "petal width": width, "when": when, "flag": i % 2, "y": i % 3}


def taken(r):
    if r["size"] == "":
        return r["flag"] == 1
    in_range = 2 * r["size"] - r["petal width"] >= 1.5 and not r["size"] % 2 > 1.75
    return in_range and r["kind"] in ("ant", "it's") or r["when"] >= "2024" and r["kind"] != "bee"


def write(name, rows):
    def field(value):
        return f'"{value}"' if "'" in str(value) else str(value)

    lines = [",".join(COLUMNS)] + [",".join(field(r[c]) for c in COLUMNS) for r in rows]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    values = [{c: v if v != "" else None for c, v in r.items()} for r in rows]
    for v in values:
        v["flag"] = v["flag"] == 1
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(v) + "\n" for v in values))


rows = [row(i) for i in range(150)]
write("all", rows)
write("some", [r for r in rows if taken(r)])
write("first", rows[:1])
folder.joinpath("late.csv").write_text("a,y\n1,0\n-2,0\n\"3\n4\",1\n-5,x\n6,1\n7,x\n")
folder.joinpath("late.jsonl").write_text('{"a": 1, "y": 0}\n\n{"a": -5, "y": "x"}\n{"a": 7, "y": "x"}\n')
folder.joinpath("twice.jsonl").write_text('{"a": 1, "a": 2, "y": 0}\n')
