"""Gives each layer inputs of other types and shapes than it takes: each message begins with the node that it is about, says N where the
batch is meant, and is the only one of its node. misfits.py PARTS_FOLDER
"""
import collections
import json
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import parts

BATCH = 9973  # a number that no shape has
AT_ONCE = 20  # messages that one run tells
SOURCES = [*parts.INPUTS, "truth", "table", "narrow", "seven", 0.5, 300]
BEFORE = [*parts.BEFORE, {"name": "narrow", "op": "cast", "in": "image", "dtype": "u8"},
          {"name": "seven", "op": "constant", "value": 1, "shape": [7]}]


def layers():
    told = subprocess.run(["heddle", "ops", "--json", "--kind", "layer"], capture_output=True, text=True, check=True).stdout
    return json.loads(told)["others"]


def misfits(layer):
    """The layer's row, with one of its inputs, or all of them, exchanged."""
    row = {"in": ["x", "big"][:len(layer["inputs"])], **parts.LAYERS.get(layer["name"], {})}
    given = row["in"] if isinstance(row["in"], list) else [row["in"]]
    for source in SOURCES:
        for i in range(len(given)):
            yield {**row, "in": [*given[:i], source, *given[i + 1:]]}
        if len(given) > 1:
            yield {**row, "in": [source] * len(given)}


def told(nodes):
    model = {"format": "heddle-model/1", "name": "misfits",
             "inputs": {name: {"shape": ["N", *shape], "dtype": dtype} for name, (shape, dtype, *_) in parts.INPUTS.items()},
             "nodes": [*BEFORE, *nodes], "train": {"batch": {"N": BATCH}}}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(json.dumps(model).replace('{"name": "t', '\n{"name": "t'))
        file.flush()
        lines = subprocess.run(["heddle", "check", file.name], capture_output=True, text=True).stderr.splitlines()
    return [line for line in lines if re.search(": (error|warning): ", line)]


nodes = []
for layer in layers():
    for misfit in misfits(layer) if layer["inputs"] else []:
        results = {"out": ["t%d_%d" % (len(nodes), i) for i in range(len(misfit["out"]))]} if "out" in misfit else {}
        nodes.append({"name": "t%d" % len(nodes), "op": layer["name"], **misfit, **results})
messages, faults = 0, collections.defaultdict(list)
for first in range(0, len(nodes), AT_ONCE):
    part = nodes[first:first + AT_ONCE]
    of_node = collections.Counter()
    for line in told(part):
        messages += 1
        _, _, message = line.partition(": error: ")
        text = re.sub(r"'t\d+'", "'t'", message)
        title = re.match(r"(\w+) '(t\d+)'(?:: | takes | does not take )", message)
        if title is None:
            faults["does not begin with its node: " + text].append(line)
        elif of_node[title[2]] == 1:
            faults["is the second of its node: " + text].append(line)
        of_node[title[2] if title else None] += 1
        if re.search(r"\[(\d+,)*%d[],]" % BATCH, message):
            faults["speaks of the batch's number: " + text].append(line)
for fault, lines in sorted(faults.items()):
    print("%s (%d times)" % (fault, len(lines)))
print("%d misfits, %d messages" % (len(nodes), messages))
sys.exit(1 if faults else 0)
