#!/usr/bin/env python3
"""Trains PyTorch's twins of models/ on the same rows: twins.json beside this file, which check_training.py reads.

    ninja -C build/release heddle_model_rows
    python3 make_twins.py [NAME ...]    # needs torch, numpy and Pillow; the stored file was made with torch 2.15.0 on a CPU

Each twin is written as one would write it in PyTorch, with the model file's rows, batch, epochs, optimizer, schedule and distributions of
initial values; rows are shuffled by torch.randperm. What is stored are figures of the test rows for seeds 1, 2 and 3, named as heddle
names them. Some twins have a trivial answer, too: what one reaches on the test rows without a network, or without training it. Names
given on the command line are made anew, the others kept.

A twin is twins/NAME.py, whose class Twin is a module with

    loss(rows)           of a batch; loss_of(phase, rows) where the model has phases, whose parameters are a module of the phase's name
    figures(rows)        of the test rows: {figure: number}
    std                  of the initial values of embeddings, where it has some
    begin()              follows the drawing of the initial values; optional
    renew(step)          follows each step, counted from 1; optional
    read()               {"train": rows, "test": rows}, where Heddle's reader is not to read them
    trivial(train, test) the figures of the trivial answer, which trivial_name describes; optional
"""
import functools
import importlib
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(HERE.parent))  # sliced.py

ROWS = ROOT / "build/release/bin/heddle_model_rows"
SEEDS = (1, 2, 3)
NAMES = sorted(path.stem for path in (HERE / "twins").glob("*.py") if path.stem != "parts")

WEIGHED = nn.Conv2d, nn.ConvTranspose2d, nn.Conv3d, nn.ConvTranspose3d, nn.Linear


def start(module, init):
    """The model file's distributions: of weights init, biases zero."""
    for m in module.modules():
        if isinstance(m, WEIGHED):
            nn.init.kaiming_normal_(m.weight) if init == "he_normal" else nn.init.xavier_uniform_(m.weight)
        elif isinstance(m, nn.Embedding):
            nn.init.normal_(m.weight, std=module.std)
        if not isinstance(m, (nn.BatchNorm2d, nn.BatchNorm3d)) and getattr(m, "bias", None) is not None:
            nn.init.zeros_(m.bias)


def optimizer_of(train, parameters, steps):
    given = train["optimizer"]
    lr = given["lr"]
    peak = lr["peak"] if isinstance(lr, dict) else lr
    betas = tuple(given.get("betas", (0.9, 0.999)))
    decay = {"weight_decay": given["weight_decay"]} if "weight_decay" in given else {}
    optimizer = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[given["op"]](parameters, lr=peak, betas=betas, **decay)
    if not isinstance(lr, dict):
        return optimizer, None
    if lr["op"] == "cosine":
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: (1 + math.cos(math.pi * s / steps)) / 2)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=steps, cycle_momentum=False)


def players_of(module, train, steps):
    """For each phase, of which a training without phases has one: its loss of rows, its optimizer and its schedule."""
    if "phases" not in train:
        return [(module.loss, *optimizer_of(train, module.parameters(), steps))]
    return [(functools.partial(module.loss_of, phase["name"]), *optimizer_of(phase, getattr(module, phase["name"]).parameters(), steps))
            for phase in train["phases"]]


def batches(rows, count, batch, steps):
    """Epoch after epoch, each in an order of its own."""
    while True:
        for at in torch.randperm(count).split(batch):
            if steps == 0:
                return
            steps -= 1
            yield {n: v[at] for n, v in rows.items()}


def trained(module, train, rows, count):
    """Trains the module's parameters; `renew`, where it has one, follows each step."""
    batch = train["batch"]["N"]
    steps = train.get("steps") or train["epochs"] * math.ceil(count / batch)
    players = players_of(module, train, steps)
    module.train()
    for step, picked in enumerate(batches(rows, count, batch, steps), 1):
        for loss, optimizer, schedule in players:
            optimizer.zero_grad()
            loss(picked).backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()
        if hasattr(module, "renew"):
            module.renew(step)


def rounded(value):
    """To five decimals, or three digits where these are fewer."""
    return round(value, 5) if abs(value) >= 0.01 else float(f"{value:.3g}")


def figures_of(twin, model, rows, seed):
    torch.manual_seed(seed)
    train = model["train"]
    count = len(next(iter(rows["train"].values())))
    count -= int(count * model["data"].get("validation", {}).get("fraction", 0) + 1e-9)  # the last rows, which train nothing
    module = twin()
    start(module, train.get("init"))
    if hasattr(module, "begin"):
        module.begin()
    trained(module, train, rows["train"], count)
    module.eval()
    with torch.no_grad():
        return {k: rounded(v) for k, v in module.figures(rows["test"]).items()}


def model_of(path):
    lines = path.read_text().splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


def rows_of(name):
    """As Heddle's reader has them."""
    rows = {"train": {}, "test": {}}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROWS, ROOT / f"models/{name}.json", folder], check=True)
        for file in sorted(pathlib.Path(folder).glob("*.npy")):
            split, column, _ = file.name.split(".")
            rows[split][column] = torch.from_numpy(numpy.load(file))
    return rows


def main(names):
    path = HERE / "twins.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    stored, trivial = before.get("twins", {}), before.get("trivial", {})
    for name in names:
        twin = importlib.import_module(f"twins.{name}").Twin
        rows = twin.read() if hasattr(twin, "read") else rows_of(name)
        stored[name] = [figures_of(twin, model_of(ROOT / f"models/{name}.json"), rows, seed) for seed in SEEDS]
        print(name, *stored[name], flush=True)
        if hasattr(twin, "trivial"):
            found = twin.trivial(rows["train"], rows["test"])
            trivial[name] = {"answer": twin.trivial_name, **{k: rounded(v) for k, v in found.items()}}
            print(name, trivial[name], flush=True)
        note = f"torch {torch.__version__.split('+')[0]}, see make_twins.py: figures of the test rows, seeds 1, 2, 3"
        twins, answers = (",\n".join(f"    {json.dumps(n)}: {json.dumps(of[n])}" for n in NAMES if n in of) for of in (stored, trivial))
        path.write_text('{\n  "note": "%s",\n  "twins": {\n%s\n  },\n  "trivial": {\n%s\n  }\n}\n' % (note, twins, answers))


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
