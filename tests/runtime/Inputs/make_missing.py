"""Writes rows of which some values are missing, and the same rows with what stands for them: python3 make_missing.py FOLDER

Values are quarters, so that sums are exact and a mean is rounded once, as Python rounds it.
"""
import json
import pathlib
import random
import statistics
import sys

folder = pathlib.Path(sys.argv[1])
pick = random.Random(3)
NAMES, WORDS = "abcd", ["", "NA", "nan", "null", " "]


def rows(count):
    return [[None if pick.random() < 0.3 else pick.randrange(-40, 400) / 4 for _ in NAMES] for _ in range(count)]


def mean(values):
    return sum(values) / len(values)


def fills(table, f):
    return [f([row[j] for row in table if row[j] is not None]) for j in range(len(NAMES))]


def filled(table, numbers):
    return [[numbers[j] if v is None else v for j, v in enumerate(row)] for row in table]


def indicated(table, numbers):
    return [new + [int(v is None) for v in row] for new, row in zip(filled(table, numbers), table)]


def csv(name, table, titles=NAMES):
    lines = [",".join([*titles, "y"])]
    for i, row in enumerate(table):
        lines.append(",".join([WORDS[(i + j) % len(WORDS)] if v is None else repr(v) for j, v in enumerate(row)] + [str(i % 3)]))
    (folder / name).write_text("\n".join(lines) + "\n")


def jsonl(name, table):
    (folder / name).write_text("".join(json.dumps({"x": row, "y": i % 3}) + "\n" for i, row in enumerate(table)))


train, test, zeros = rows(12), rows(6), [0.0] * len(NAMES)
train[0], train[-1] = [None, 1.25, 2.5, 300.0], [-5.0, None, None, 7.75]
means, medians, first = fills(train, mean), fills(train, statistics.median), fills(train[:8], mean)
assert means != first and all(v is None for v in [train[0][0], train[-1][1]])
both = "abcdefgh"
csv("holes.csv", train), csv("test.csv", test), jsonl("holes.jsonl", train), jsonl("test.jsonl", test)
csv("means.csv", filled(train, means)), csv("medians.csv", filled(train, medians)), csv("first.csv", filled(train, first))
csv("test_means.csv", filled(test, means)), csv("test_first.csv", filled(test, first))
csv("indicated.csv", indicated(train, zeros), both), csv("means_indicated.csv", indicated(train, means), both)
csv("test_indicated.csv", indicated(test, means), both), csv("numbers.csv", filled(train, [-1.5] * 4))
csv("none.csv", [[None, *row[1:]] for row in filled(train, means)])
csv("late.csv", [[None if i < 8 else 1.0, *row[1:]] for i, row in enumerate(filled(train, means))])
(folder / "no_label.csv").write_text("a,b,c,d,y\n1,2,3,4,\n" + "1,2,3,4,0\n" * 7)
(folder / "metadata").write_text(json.dumps(means))
