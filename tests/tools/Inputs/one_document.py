"""A text that was generated, as a row of one document: one_document.py rows|compare TEXT.jsonl IDS LENGTH, IDS those of the prompt.

rows: the line for heddle predict. compare: its result on standard input gives each token the log probability that it was written with, and
no other token a larger one.
"""
import json
import math
import sys

what, path, prompt, length = sys.argv[1], sys.argv[2], [int(i) for i in sys.argv[3].split(",")], int(sys.argv[4])
with open(path) as file:
    text = json.loads(file.readline())
ids = prompt + text["ids"]
if what == "rows":
    padded = ids + [0] * (length - len(ids))
    print(json.dumps({"tokens": padded, "document": [4] * length, "place": list(range(length))}))
else:
    logits = json.load(sys.stdin)["logits"]
    for place, log in enumerate(text["log_probabilities"], len(prompt)):
        row = logits[place - 1]
        whole = math.log(sum(math.exp(x) for x in row))
        assert abs(row[ids[place]] - whole - log) < 1e-4 and row[ids[place]] > max(row) - 1e-4, (place, log)
