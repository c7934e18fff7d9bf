"""What `heddle summary` says a run takes, and what runs take: python3 summary_memory.py MODEL...

Of each model: the state and the arena are those of the training's program to the byte, and the peak resident memory of the
process is no less than the parts of the summary, but for pages that are never written, and no more than these and its constants.
"""
import json
import os
import subprocess
import sys

UNTOUCHED = 2 << 20  # the ring's records of steps that never ran, and gaps between values


def output(*words):
    run = subprocess.run(["heddle", *words, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(model):
    with open(model, encoding="utf-8") as file:
        text = file.read()
    shared = ["--set", "train.steps=2"]
    if ".gz" in text and os.environ.get("HEDDLE_DATA"):
        shared += ["--data", os.environ["HEDDLE_DATA"]]
    summary = output("summary", model, *shared)
    memory = summary["memory"]
    if "data" not in memory["parts"]:
        return 0  # a model without data, or data that are not here, are not trained
    run = output("train", model, *shared)
    assert memory["parts"]["state"] == run["state_bytes"], (model, memory, run)
    assert memory["parts"]["arena"] == run["arena_bytes"], (model, memory, run)
    assert memory["total"] == sum(memory["parts"].values())
    most = memory["total"] + sum(memory["constants"].values())
    assert memory["total"] - UNTOUCHED <= run["peak_bytes"] <= most, (model, memory, run["peak_bytes"])
    owned = [name for layer in summary["layers"] for name in layer["parameters"]]
    assert len(owned) == len(set(owned)) == len(summary["parameters"]), model  # each of one layer
    return 1


trained = sum(check(model) for model in sys.argv[1:])
print(f"{trained} of {len(sys.argv) - 1} models trained")
assert trained >= 14, trained
