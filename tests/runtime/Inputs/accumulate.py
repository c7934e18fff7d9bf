"""Rows and a model for accumulate.test, and comparisons of what its trainings say.

    accumulate.py DIR
    accumulate.py [--within=1e-06] --compare LOG LOG...
    accumulate.py --arenas REPORT REPORT
"""
import json
import pathlib
import random
import sys

MODEL = """{"format": "heddle-model/1", "name": "m",
 "inputs": {"x": {"shape": ["N", 5]}, "t": {"shape": ["N"], "dtype": "i32"}, "w": {"shape": ["N"]}},
 "nodes": [{"name": "h", "op": "dense", "in": "x", "units": 16, "activation": "tanh"}, {"name": "d", "op": "dropout", "rate": 0.4},
           {"name": "y", "op": "dense", "units": 3}],
 "outputs": {"y": "y"},
 "train": {"batch": {"N": 32}, "accumulate": 1, "epochs": 3, "clip_norm": 1, "average": {"decay": 0.9},
           "loss": {"op": "cross_entropy", "in": ["y", "t"], "weights": "w", "label_smoothing": 0.1},
           "regularize": {"op": "l2", "match": "*.weight", "weight": 0.01},
           "metrics": [{"op": "accuracy", "in": ["y", "t"]}], "optimizer": {"op": "adam", "lr": 0.01}},
 "data": {"train": {"op": "csv", "file": "rows.csv", "x": ["a", "b", "c", "d", "e"], "t": "t", "w": "w"},
          "test": {"op": "csv", "file": "rows.csv", "x": ["a", "b", "c", "d", "e"], "t": "t", "w": "w"}}}
"""
ROWS = 32 * 6 + 13  # the last batch of an epoch is a rest


def write(folder):
    draw = random.Random(3)
    lines = ["a,b,c,d,e,t,w"]
    for i in range(ROWS):
        x = [draw.gauss(0, 1) for _ in range(5)]
        label = -100 if i % 7 == 3 else 0 if x[0] > 0 else 1 if x[1] > 0 else 2
        lines.append(",".join("%.6f" % v for v in x) + ",%d,%.4f" % (label, draw.random() + 0.1))
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    (folder / "m.json").write_text(MODEL)


def losses(log):
    events = [json.loads(line) for line in pathlib.Path(log).read_text().splitlines()]
    return [e["loss"] for e in events if e["event"] == "step"], [e["train"]["loss"] for e in events if e["event"] == "epoch"]


def compare(logs, within):
    steps, epochs = losses(logs[0])
    for log in logs[1:]:
        for whole, apart in zip((steps, epochs), losses(log)):
            if len(whole) != len(apart) or not whole:
                sys.exit("%s: %d losses, not %d" % (log, len(apart), len(whole)))
            for i, (a, b) in enumerate(zip(whole, apart)):
                if not abs(a - b) <= within:
                    sys.exit("%s: loss %d is %r, not %r" % (log, i + 1, b, a))
    print("losses of %d steps and %d epochs within %g" % (len(steps), len(epochs), within))


def arena(report):
    for line in pathlib.Path(report).read_text().splitlines():
        if line.startswith("train "):
            return int(line.split()[1])
    sys.exit(report + ": no entry train")


def main(arguments):
    within = 1e-6
    if arguments[0].startswith("--within="):
        within = float(arguments.pop(0).split("=")[1])
    if arguments[0] == "--compare":
        compare(arguments[1:], within)
    elif arguments[0] == "--arenas":
        whole, apart = arena(arguments[1]), arena(arguments[2])
        print("arena of train: %s" % ("at most a fifth" if apart <= 0.2 * whole else "%d of %d" % (apart, whole)))
    else:
        write(pathlib.Path(arguments[0]))


main(sys.argv[1:])
