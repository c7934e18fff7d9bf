"""Trains a model on each of several files that hold the same rows: train_alike.py MODEL FIRST SETTINGS...

FIRST and each of SETTINGS are `KEY=VALUE`, several joined by ` & `; all must give the weights of FIRST, bit for bit.
"""
import json
import subprocess
import sys

model, *variants = sys.argv[1:]
hashes = []
for variant in variants:
    words = [w for s in variant.split(" & ") for w in ("--set", s.strip())]
    run = subprocess.run(["heddle", "train", model, "--json", *words], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{variant}: exit {run.returncode}\n{run.stderr}")
    hashes.append(json.loads(run.stdout)["weights_hash"])
    if hashes[-1] != hashes[0]:
        sys.exit(f"{variant} trains to {hashes[-1]}, {variants[0]} to {hashes[0]}")
print(f"{len(hashes)} files give {hashes[0]}")
