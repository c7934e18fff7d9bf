#!/usr/bin/env python3
"""Trains the models in models/ through the command line and holds the results to what is published or promised.

    python3 check_training.py digits | linear | bits | mnist_cnn | mnist_mlp

HEDDLE is the binary. Exit 77 (skipped) where MNIST is not at hand: $HEDDLE_DATA/mnist, or ../shared/data/mnist beside the checkout.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE", str(ROOT / "build/release/bin/heddle"))
SKIPPED = 77
# Every pixel straight to the ten classes.
LINEAR = {"nodes": [{"op": "flatten", "in": "image"}, {"name": "logits", "op": "dense", "units": 10}, {"name": "probs", "op": "softmax"}]}


def heddle(*arguments):
    done = subprocess.run([HEDDLE, *arguments, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def mnist():
    folder = pathlib.Path(os.environ.get("HEDDLE_DATA", ROOT.parent / "shared/data")) / "mnist"
    if not folder.is_dir():
        print(f"skipped: no MNIST in {folder.parent}")
        sys.exit(SKIPPED)
    return str(folder)


def require(name, value, floor=None, below=None):
    print(f"{name}: {value}")
    if floor is not None and not value >= floor:
        sys.exit(f"{name} is {value}, expected at least {floor}")
    if below is not None and not value < below:
        sys.exit(f"{name} is {value}, expected less than {below}")


def digits():
    """The README's model learns the drawn digits."""
    require("digits_cnn test accuracy", heddle("train", str(ROOT / "models/digits_cnn.json"))["metrics"]["test"]["accuracy"], floor=0.97)


def linear():
    """The drawn digits are not trivial: a linear model does not learn them."""
    settings = [f"--set=nodes={json.dumps(LINEAR['nodes'])}"]
    found = heddle("train", str(ROOT / "models/digits_cnn.json"), *settings)["metrics"]["test"]["accuracy"]
    require("linear test accuracy", found, floor=0.3, below=0.85)


def bits():
    """Two folders, one, two and four threads, twice: the same weights after an epoch."""
    hashes = []
    for threads in ("1", "2", "4", "2"):
        with tempfile.TemporaryDirectory() as folder:
            model = shutil.copy(ROOT / "models/digits_cnn.json", folder)
            hashes.append(heddle("train", model, "--set", "train.epochs=1", "--threads", threads)["weights_hash"])
    print("weights:", *hashes)
    if len(set(hashes)) != 1:
        sys.exit("the weights depend on the number of threads or the folder")


def mnist_cnn():
    """Keras's network reaches what Keras reports."""
    arguments = ("train", str(ROOT / "models/mnist_cnn.json"), "--data", mnist())
    first = heddle(*arguments, "--set", "train.epochs=1")
    require("validation accuracy after epoch 1", first["metrics"]["validation"]["accuracy"], floor=0.970)
    require("test accuracy after epoch 15", heddle(*arguments)["metrics"]["test"]["accuracy"], floor=0.988)


def mnist_mlp():
    found = heddle("train", str(ROOT / "models/mnist_mlp.json"), "--data", mnist(), "--set", "train.epochs=20")
    require("test accuracy after epoch 20", found["metrics"]["test"]["accuracy"], floor=0.975)


if __name__ == "__main__":
    {f.__name__: f for f in (digits, linear, bits, mnist_cnn, mnist_mlp)}[sys.argv[1]]()
