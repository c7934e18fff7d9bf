"""Writes boxes, scores and the boxes that torchvision.ops.nms keeps: python3 make_nms.py FILE

torchvision 0.29.2 has made the file nms.jsonl of tests/runtime/Inputs. A line is a row of 14 boxes: `kept` of each threshold of IOU.
"""
import json
import random
import sys

import torch
import torchvision

IOU = [0.0, 0.3, 0.5, 0.9, 1.0]
pick = random.Random(31)


def box(kind):
    if kind == "grid":  # many equal boxes, and unions that are ratios of small numbers
        x, y = pick.randrange(3), pick.randrange(3)
        return [x, y, x + pick.randrange(1, 4), y + pick.randrange(1, 4)]
    if kind == "flat" and pick.random() < 0.4:  # no area, or a negative one
        x, y = pick.randrange(4), pick.randrange(4)
        return [x, y, x + pick.choice([0, -1, 2]), y]
    x, y = round(pick.uniform(-5, 5), 2), round(pick.uniform(-5, 5), 2)
    return [x, y, round(x + pick.uniform(0.5, 6), 2), round(y + pick.uniform(0.5, 6), 2)]


with open(sys.argv[1], "w") as out:
    for i in range(30):
        kind = ["plain", "grid", "flat"][i % 3]
        boxes = [box(kind) for _ in range(14)]
        scores = [pick.choice([0.25, 0.5, 0.75]) if i % 2 else round(pick.uniform(-1, 1), 3) for _ in range(14)]
        kept = [torchvision.ops.nms(torch.tensor(boxes, dtype=torch.float32), torch.tensor(scores), t).tolist() for t in IOU]
        out.write(json.dumps({"boxes": boxes, "scores": scores, "kept": kept}) + "\n")
