"""Trains a small model by generated kernels and by libraries: libraries.py HEDDLE FOLDER LIBRARIES MODEL LIMIT [ARGUMENT...]

LIBRARIES is what --libraries takes: cublaslt, cudnn, or both. Every product and convolution that a library is for must be a call, the losses
the same within LIMIT of the largest, and the fakes without a violation.
"""
import json
import os
import subprocess
import sys

heddle, folder, libraries, model, limit = *sys.argv[1:5], float(sys.argv[5])
more = ["--small", *sys.argv[6:]]
counted = {"cublaslt": "count: products", "cudnn": "count: convolutions"}


def run(*arguments):
    done = subprocess.run([heddle, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(name, *arguments):
    log = f"{folder}/{model}.{name}.jsonl"
    run("train", model, *more, "--device=cuda", "--set", "train.steps=6", "--set", "data.validation=null", "--set", "data.test=null",
        "--log", log, *arguments)
    return [line["loss"] for line in map(json.loads, open(log)) if line["event"] == "step"]


report = json.loads(run("compile", model, *more, "--target=h200", f"--libraries={libraries}", "--emit=report", "--json"))
for library in libraries.split(","):
    taken = [c for c in report["choices"] if f"not {library}: used for" not in c["choice"]]
    assert taken, report["choices"]
    for c in taken:
        assert c["choice"].startswith(f"{library} "), c
calls = report["library_calls"]
assert {c["impl"] for c in calls} == set(libraries.split(",")), calls
assert all(c["workspace_bytes"] == 32 << 20 for c in calls if c["impl"] == "cublaslt"), calls

generated = losses("generated")
library = losses("library", f"--libraries={libraries}")
fake = open(os.environ["HEDDLE_FAKE_CUDA_REPORT"]).read()
assert "\n0 violations" in fake and all(counted[name] in fake for name in libraries.split(",")), fake
assert len(generated) == len(library) == 6, (generated, library)
worst = max(abs(a - b) for a, b in zip(generated, library)) / max(map(abs, generated))
assert worst <= limit, f"{worst} of the largest: {generated} {library}"
