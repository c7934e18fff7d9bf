"""Trains a small model by generated kernels and by cuBLASLt: libraries.py HEDDLE FOLDER MODEL LIMIT [ARGUMENT...]

Every matrix product of floating types must be a call, the losses the same within LIMIT of the largest, and the fake without a violation.
"""
import json
import os
import subprocess
import sys

heddle, folder, model, limit = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
more = ["--small", *sys.argv[5:]]


def run(*arguments):
    done = subprocess.run([heddle, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(name, *arguments):
    log = f"{folder}/{model}.{name}.jsonl"
    run("train", model, *more, "--device=cuda", "--set", "train.steps=6", "--set", "data.validation=null", "--set", "data.test=null",
        "--log", log, *arguments)
    return [line["loss"] for line in map(json.loads, open(log)) if line["event"] == "step"]


report = json.loads(run("compile", model, *more, "--target=h200", "--libraries=cublaslt", "--emit=report", "--json"))
products = [c for c in report["choices"] if "not cublaslt: used for" not in c["choice"]]
assert products, report["choices"]
for c in products:
    assert c["choice"].startswith("cublaslt "), c
calls = report["library_calls"]
assert calls and all(c["impl"] == "cublaslt" and c["workspace_bytes"] == 32 << 20 for c in calls), calls

generated = losses("generated")
library = losses("library", "--libraries=cublaslt")
fake = open(os.environ["HEDDLE_FAKE_CUDA_REPORT"]).read()
assert "\n0 violations" in fake and "count: products" in fake, fake
assert len(generated) == len(library) == 6, (generated, library)
worst = max(abs(a - b) for a, b in zip(generated, library)) / max(map(abs, generated))
assert worst <= limit, f"{worst} of the largest: {generated} {library}"
