#!/usr/bin/env python3
"""Rows for `heddle predict`, and what is to come out.

    predictions.py reference HEDDLE FOLDER   predictions equal PyTorch's (training/reference/predictions.json) within 1e-5
    predictions.py counts HEDDLE FOLDER N,N  any number of rows gives the same results, to 1e-6, and compiles nothing
    predictions.py every HEDDLE FOLDER N     the same for each number from 1 to N
    predictions.py answers HEDDLE            a line in, a line out, while the producer waits for it
    predictions.py memory HEDDLE FOLDER N    N rows through a pipe and from a file take no more memory than few
    predictions.py large HEDDLE FOLDER       rows of megabytes take memory of a few rows, and give the same bits in any batch
    predictions.py batches HEDDLE FOLDER     batches of any size give the same bits; with AVX2 alone, the same to 1e-5
"""
import array
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

ROWS = 8
SMALL_DIGITS = [word for key in ("conv1.filters=4", "conv2.filters=8", "fc.units=16") for word in ("--set", "nodes." + key)]
REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "training" / "reference"
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def pictures(rows):
    return [[[(r * 31 + i * j * (r + 3) + i * 3 + j * 5) % 256 for j in range(28)] for i in range(28)] for r in range(rows)]


def lines(rows):
    return "".join(json.dumps({"image": picture}) + "\n" for picture in rows)


def predict(heddle, model, weights, *options, text=None):
    command = [heddle, "predict", str(MODELS / f"{model}.json"), "--weights", str(weights), *options]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


def near(got, wanted, tolerance):
    assert len(got) == len(wanted), (len(got), len(wanted))
    worst = max(abs(a - b) for x, y in zip(got, wanted) for a, b in zip(x, y, strict=True))
    assert worst <= tolerance, worst
    return worst


def idx(path, rows):
    with open(path, "wb") as f:
        f.write(struct.pack(">4BIII", 0, 0, 8, 3, len(rows), 28, 28))
        for picture in rows:
            f.write(b"".join(map(bytes, picture)))


def npy(path, rows, descr="|u1", code="B"):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(rows)}, 28, 28), }}".ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"{len(rows) * 784}{code}", *(v for p in rows for line in p for v in line)))


def reference(heddle, folder):
    stored = json.loads((REFERENCE / "predictions.json").read_text())
    rows = pictures(ROWS)
    idx(f"{folder}/rows-idx3-ubyte", rows), npy(f"{folder}/rows.npy", rows)
    pathlib.Path(f"{folder}/rows.jsonl").write_text(lines(rows))
    flat = "".join(",".join(str(v) for line in p for v in line) + "\n" for p in rows)
    pathlib.Path(f"{folder}/rows.csv").write_text(flat)
    for name, model, settings in (("torch", "digits_cnn", SMALL_DIGITS), ("heddle", "digits_cnn", SMALL_DIGITS),
                                  ("resnet20", "resnet20", ["--set", "let.width=4"])):
        for file in ("rows-idx3-ubyte", "rows.npy", "rows.jsonl", "rows.csv"):
            out = predict(heddle, model, REFERENCE / f"predict_{name}.safetensors", "--output", "logits", *settings,
                          "--in", f"image={folder}/{file}")
            got = [json.loads(line)["logits"] for line in out.splitlines()]
            print(name, file, "differs by at most %.1e" % near(got, stored[name], 1e-5))


def counts(heddle, folder, numbers):
    most = max(numbers)
    rows = pictures(most)
    weights = REFERENCE / "predict_torch.safetensors"
    options = ["--output", "logits", *SMALL_DIGITS]
    out = predict(heddle, "digits_cnn", weights, *options, "--in", "-", text=lines(rows))
    every = [json.loads(line)["logits"] for line in out.splitlines()]
    assert len(every) == most
    kernels = sorted(os.listdir(os.environ["HEDDLE_CACHE"]))
    worst = 0
    for n in numbers:
        # The last n: each row stands at other places of the batch, beside other rows.
        idx(f"{folder}/n.idx", rows[most - n:])
        out = predict(heddle, "digits_cnn", weights, *options, "--in", f"{folder}/n.idx")
        worst = max(worst, near([json.loads(line)["logits"] for line in out.splitlines()], every[most - n:], 1e-6))
    assert sorted(os.listdir(os.environ["HEDDLE_CACHE"])) == kernels, "something was compiled"
    print(len(numbers), "counts differ by at most %.1e" % worst)


def every(heddle, folder, most):
    counts(heddle, folder, range(1, most + 1))


def answers(heddle):
    command = [heddle, "predict", str(MODELS / "digits_cnn.json"), "--weights", str(REFERENCE / "predict_torch.safetensors"),
               *SMALL_DIGITS, "--in", "-", "--top", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for picture in pictures(3):
            process.stdin.write(lines([picture])), process.stdin.flush()
            print(sorted(json.loads(process.stdout.readline())["top"][0]))
        process.stdin.close()
        assert process.wait() == 0


def memory(heddle, folder, most):
    """Of a model of one dense layer, whose rows are short."""
    model = f"{folder}/line.json"
    pathlib.Path(model).write_text(json.dumps({
        "format": "heddle-model/1", "name": "line", "inputs": {"x": {"shape": ["N", 4]}, "y": {"shape": ["N", 1]}},
        "nodes": [{"name": "out", "op": "dense", "in": "x", "units": 1}], "outputs": {"out": "out"},
        "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "mse", "in": ["out", "y"]}, "optimizer": "sgd"},
        "data": {"train": {"op": "csv", "file": "line.csv", "x": "a:d", "y": "e"}}}))
    pathlib.Path(f"{folder}/line.csv").write_text("a,b,c,d,e\n1,2,3,4,5\n2,3,4,5,6\n")
    subprocess.run([heddle, "train", model, "--save", f"{folder}/line.safetensors"], check=True, capture_output=True)

    def peak(rows, out):
        with open(f"{folder}/rows.csv", "w") as f:
            f.write("a,b,c,d\n")
            f.writelines(f"{i},{i % 7},0.5,{-i}\n" for i in range(rows))
        command = [heddle, "predict", model, "--weights", f"{folder}/line.safetensors", "--overwrite", "--in", f"{folder}/rows.csv", "--out", out]
        process = subprocess.Popen(command)
        used = os.wait4(process.pid, 0)
        assert used[1] == 0, used
        assert sum(1 for _ in open(out)) == rows + out.endswith("csv")
        return used[2].ru_maxrss / 1024

    for out in (f"{folder}/out.csv", f"{folder}/out.jsonl"):
        few, many = peak(1000, out), peak(most, out)
        print(f"{out.rsplit('.', 1)[1]}: {few:.0f} MiB for 1000 rows, {many:.0f} MiB for {most}")
        assert many < few + 16


def trained(heddle, folder, name, shape, nodes, settings=()):
    """A model of one step, with its weights."""
    model = f"{folder}/{name}.json"
    nodes[0]["in"] = "x"
    pathlib.Path(model).write_text(json.dumps({
        "format": "heddle-model/1", "name": name, "inputs": {"x": {"shape": ["N", *shape]}},
        "nodes": [*nodes, {"name": "mean", "op": "mean"}], "outputs": {"out": "out"},
        "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "value", "in": "mean"}, "optimizer": "sgd"},
        "data": {"train": {"op": "npy", "x": "x.npy"}}}))
    subprocess.run([heddle, "train", model, *settings, "--save", f"{folder}/{name}.safetensors"], check=True, capture_output=True)
    return [heddle, "predict", model, "--weights", f"{folder}/{name}.safetensors", "--overwrite"]


def floats(path, shape):
    """An npy file; each row is random, and repeats itself after a thousand numbers."""
    size = 1
    for d in shape[1:]:
        size *= d
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
        for row in range(shape[0]):
            draw = random.Random(row)
            some = struct.pack("1000f", *(draw.uniform(-1, 1) for _ in range(1000)))
            f.write((some * (size // 1000 + 1))[:size * 4])


def run_and_peak(command):
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stderr=said)
        used = os.wait4(process.pid, 0)
        said.seek(0)
        assert used[1] == 0, (command, used, said.read().decode(errors="replace"))
    return used[2].ru_maxrss / 1024


def large(heddle, folder):
    # Two rows of two million floats; and small ones, of which the model makes 16 MiB each: 64 of these are a GiB.
    for name, shape, nodes in (
            ("long", [1000, 2000, 1], [{"name": "out", "op": "conv2d", "filters": 1, "kernel": 1, "activation": "relu"}]),
            ("wide", [8, 8, 1], [{"name": "more", "op": "resize2d", "size": [2048, 2048]},
                                 {"name": "out", "op": "conv2d", "filters": 1, "kernel": 3}])):
        for rows in (1, 2, 11):
            floats(f"{folder}/{name}{rows}.npy", [rows, *shape])
        floats(f"{folder}/x.npy", [2, *shape])
        command = trained(heddle, folder, name, shape, nodes)
        run_and_peak([*command, "--in", f"{folder}/{name}2.npy", "--out", f"{folder}/{name}2.out.npy"])  # compiles
        for rows in (1, 2, 11):
            used = run_and_peak([*command, "--in", f"{folder}/{name}{rows}.npy", "--out", f"{folder}/{name}{rows}.out.npy"])
            print(f"{name}: {used:.0f} MiB for {rows} rows")
            assert used < 256, used
        run_and_peak([*command, "--in", f"{folder}/{name}11.npy", "--batch", "4", "--out", f"{folder}/{name}4.out.npy"])
        for other in ("1.out", "2.out", "4.out"):
            assert begins_as(f"{folder}/{name}{other}.npy", f"{folder}/{name}11.out.npy"), f"other bits in {other}"
        for done in (*pathlib.Path(folder).glob(f"{name}*.out.npy"), pathlib.Path(f"{folder}/{name}11.npy")):
            done.unlink()  # hundreds of megabytes


def begins_as(few, many):
    """Whether the rows of one array are the first of another, a piece at a time: a child's peak begins with what this process takes."""
    with open(few, "rb") as a, open(many, "rb") as b:
        a.seek(256), b.seek(256)
        while piece := a.read(1 << 20):
            if b.read(len(piece)) != piece:
                return False
        return a.tell() > 256


def same(a, b):
    return a == b


def close(a, b):
    floats_of = lambda file: array.array("f", file[10 + int.from_bytes(file[8:10], "little"):])
    return len(a) == len(b) and all(abs(x - y) <= 1e-5 * max(1, abs(y)) for x, y in zip(floats_of(a), floats_of(b)))


def batches(heddle, folder):
    """Convolutions, products, norms, and rows by a vector, which a library makes or a loop."""
    # oneDNN's kernels for AVX2 add the last one to three rows of a product in another order (docs/predict.md).
    doctor = subprocess.run([heddle, "doctor"], text=True, capture_output=True).stdout
    widest = re.search(r"onednn +\S+ with AVX2$", doctor, re.M) is None
    models = (("conv", [13, 13, 5], [{"op": "conv2d", "filters": 17, "kernel": 3, "activation": "relu", "name": "a"},
                                     {"op": "max_pool2d", "window": 2, "name": "b"}, {"op": "batch_norm", "name": "c"},
                                     {"op": "conv2d", "filters": 3, "kernel": 3, "name": "d"}, {"op": "flatten", "name": "e"},
                                     {"op": "dense", "units": 7, "name": "f"}, {"op": "softmax", "name": "out"}]),
              ("vector", [2000], [{"op": "dense", "units": 500, "activation": "gelu", "name": "a"}, {"op": "layer_norm", "name": "b"},
                                  {"op": "dense", "units": 1500, "name": "c"}, {"op": "dense", "units": 1, "name": "out"}]))
    for name, shape, nodes in models:
        floats(f"{folder}/x.npy", [70, *shape])
        command = [*trained(heddle, folder, name, shape, nodes, ["--set", "train.batch.N=10"]), "--in", f"{folder}/x.npy"]
        made = {}
        for batch in (2, 17, 64):
            run_and_peak([*command, "--batch", str(batch), "--out", f"{folder}/out.npy"])
            made[batch] = pathlib.Path(f"{folder}/out.npy").read_bytes()
        print(name, [batch for batch in made if not (same if widest else close)(made[batch], made[64])])


if __name__ == "__main__":
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "counts":
        arguments[2] = [int(n) for n in arguments[2].split(",")]
    elif what in ("every", "memory"):
        arguments[2] = int(arguments[2])
    globals()[what](*arguments)
