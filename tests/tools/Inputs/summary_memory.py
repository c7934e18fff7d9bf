"""What `heddle summary` says a run takes, and what runs take: python3 summary_memory.py MODEL...

Of each model: the state and the arena are those of the training's program to the byte, and the peak resident memory of the
process is no less than the parts of the summary, but for pages that are never written, and no more than these and its constants.
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

UNTOUCHED = 2 << 20  # the ring's records of steps that never ran, and gaps between values


def output(*words):
    run = subprocess.run(["heddle", *words, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def idx(folder, name, dims, rows):
    """As MNIST's files, with fewer rows."""
    size = rows
    for d in dims:
        size *= d
    content = bytes(i * 7 % (251 if dims else 10) for i in range(size))
    head = bytes([0, 0, 8, 1 + len(dims)]) + struct.pack(f">{1 + len(dims)}I", rows, *dims)
    with gzip.open(os.path.join(folder, name), "wb", compresslevel=1) as file:
        file.write(head + content)


def make_data(folder):
    for part, rows in (("train", 2000), ("t10k", 500)):
        idx(folder, f"{part}-images-idx3-ubyte.gz", (28, 28), rows)
        idx(folder, f"{part}-labels-idx1-ubyte.gz", (), rows)
    with open(os.path.join(folder, "tiny.csv"), "w", encoding="utf-8") as file:
        file.write("a,b,c,d,e\n" + "".join(f"{i},{i % 3},1,{i % 5},2\n" for i in range(64)))


# The model that has no data, which is about its network alone.
TINY = '{"train": {"op": "csv", "file": "tiny.csv", "x": ["a", "b", "c"], "target": ["d", "e"]}}'


def check(model, folder):
    with open(model, encoding="utf-8") as file:
        text = file.read()
    shared = ["--set", "train.steps=2"]
    if '"small":' in text:  # published sizes are for a GPU
        shared.append("--small")
    if '"warmup"' in text:
        shared += ["--set", "train.optimizer.lr.warmup=1"]
    if ".gz" in text or '"data"' not in text:
        shared += ["--data", folder]
    if '"data"' not in text:
        shared += ["--set", "data=" + TINY]
    summary = output("summary", model, *shared)
    memory = summary["memory"]
    assert "data" in memory["parts"], (model, memory)
    run = output("train", model, *shared)
    assert memory["parts"]["state"] == run["state_bytes"], (model, memory, run)
    assert memory["parts"]["arena"] == run["arena_bytes"], (model, memory, run)
    assert memory["total"] == sum(memory["parts"].values())
    most = memory["total"] + sum(memory["constants"].values())
    assert memory["total"] - UNTOUCHED <= run["peak_bytes"] <= most, (model, memory, run["peak_bytes"])
    owned = [name for layer in summary["layers"] for name in layer["parameters"]]
    assert len(owned) == len(set(owned)) == len(summary["parameters"]), model  # each of one layer


with tempfile.TemporaryDirectory() as folder:
    make_data(folder)
    for model in sys.argv[1:]:
        check(model, folder)
print(f"{len(sys.argv) - 1} models trained")
