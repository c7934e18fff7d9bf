#!/usr/bin/env python3
"""The example models beside the checkout train, each on rows that are made here: python3 check_examples.py [FOLDER]

FOLDER: $HEDDLE_EXAMPLES, or ../shared/examples beside the checkout; exit 77 (skipped) where there is none. An example that needs keys
of "train" which this version does not build is refused for these alone. The others train some steps on few rows that can be learnt:
the loss falls, and the rows of the test split, or of the validation, are evaluated.
"""
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/newcomer"))
import data  # noqa: E402

HEDDLE = os.environ.get("HEDDLE", str(ROOT / "build/release/bin/heddle"))
SKIPPED = 77
NOT_BUILT = {"memory", "parallel"}
CLASSES = 10


def striped(label, side, planes, pick):
    """Pixels of a picture whose class is where its bright stripe lies."""
    bright = [2 * label <= y < 2 * label + 4 for y in range(side)] * planes
    return bytes(pick.randrange(160, 256) if y else pick.randrange(64) for y in bright for _ in range(side))


def write_idx(folder, names, rows, pick):
    """MNIST's files: the first name is that of the pictures."""
    labels = [i % CLASSES for i in range(rows)]
    pictures = b"".join(striped(label, 28, 1, pick) for label in labels)
    (folder / names[0]).write_bytes(gzip.compress(data.idx([rows, 28, 28], pictures)))
    (folder / names[1]).write_bytes(gzip.compress(data.idx([rows], bytes(labels))))


def write_cifar(folder, names, rows, pick):
    for name in {n.replace("*", "1") for n in names}:
        content = (bytes([i % CLASSES]) + striped(i % CLASSES, 32, 3, pick) for i in range(rows))
        (folder / name).write_bytes(b"".join(content))


def write_ratings(folder, name, rows, pick):
    """A film's rating is its number's last digit, and half a point more for every second user."""
    lines = ["user,item,rating"]
    for _ in range(rows):
        user, item = pick.randrange(943), pick.randrange(40)
        lines.append("%d,%d,%g" % (user, item, 1 + item % 4 + 0.5 * (user % 2)))
    (folder / name).write_text("\n".join(lines) + "\n")


def write_names(folder, classes, rows, pick):
    """Names of a class end in two letters of its own; the last class is rare, and so is an accent."""
    folder.mkdir()
    for label in range(classes):
        count = rows // classes if label < classes - 1 else 12
        ending = chr(97 + label) + chr(97 + (5 * label + 3) % 26)
        names = ["".join(pick.choice("aeioubdgklmnrst") for _ in range(pick.randrange(2, 7))) + ending for _ in range(count)]
        (folder / ("class%02d.txt" % label)).write_text("\n".join(names + (["\u00e9" + ending] if label == 0 else [])) + "\n")
    (folder / "SOURCE.txt").write_text("made by check_examples.py\n")


def write_rows(model, folder):
    pick = random.Random(8)
    rows = {"train": 160, "test": 40}
    for split, count in rows.items():
        if split not in model["data"]:
            continue
        reader = model["data"][split]
        files = [reader[name] for name in model["inputs"] if name in reader]
        if reader["op"] == "idx":
            write_idx(folder, files, count, pick)
        elif reader["op"] == "cifar":
            write_cifar(folder, files, count, pick)
        elif reader["op"] == "csv":
            write_ratings(folder, reader["file"], 4 * count, pick)
        elif reader["op"] == "text_folder":
            write_names(folder / reader["folder"], model["let"]["classes"], 16 * count, pick)
        else:
            sys.exit("no rows are made here for the reader " + reader["op"])


def run(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=600)


def check_refused(path, needed):
    """The errors are about what is not built."""
    found = run("check", str(path))
    errors = re.findall(r"error: (.*)", found.stderr)
    about = [e for e in errors if "not supported by this version" in e]
    if found.returncode != 1 or not about or not any(op in e for op in needed for e in about):
        sys.exit("%s: expected to be refused for %s, got %d: %s" % (path.name, sorted(needed), found.returncode, found.stderr))
    print("%s: needs %s" % (path.name, ", ".join(sorted(needed))))


def check_trains(path, model):
    with tempfile.TemporaryDirectory() as folder:
        write_rows(model, pathlib.Path(folder))
        log = pathlib.Path(folder) / "log.jsonl"
        done = run("train", str(path), "--data", folder, "--batch", "16", "--epochs", "4", "--log", str(log), "--json")
        if done.returncode != 0:
            sys.exit("%s does not train (%d): %s" % (path.name, done.returncode, done.stderr))
        losses = [e["train"]["loss"] for e in map(json.loads, log.read_text().splitlines()) if e["event"] == "epoch"]
        result = json.loads(done.stdout)
    measured = result["metrics"]["test" if "test" in model["data"] else "validation"]
    print("%s: %d steps, loss of epochs %s, evaluated %s" % (path.name, result["steps"], [round(x, 4) for x in losses], {k: v for k, v in measured.items() if not isinstance(v, list)}))
    if len(losses) != 4 or not losses[-1] < 0.9 * losses[0]:
        sys.exit("%s: the loss does not fall" % path.name)


def main():
    folder = pathlib.Path((sys.argv[1:] or [os.environ.get("HEDDLE_EXAMPLES", ROOT.parent / "shared/examples")])[0])
    examples = sorted(folder.glob("*.json"))
    if not examples:
        print("skipped: there are no examples in " + str(folder))
        sys.exit(SKIPPED)
    trained = 0
    for path in examples:
        model = json.loads("".join(x for x in path.read_text().splitlines(True) if not x.startswith("//")))
        needed = set(model["train"]) & NOT_BUILT
        if needed:
            check_refused(path, needed)
        else:
            check_trains(path, model)
            trained += 1
    if trained == 0:
        sys.exit("no example was trained")


if __name__ == "__main__":
    main()
