"""Predictions of nms beside torchvision's.

    check_nms.py model CASES FOLDER              a model, and the cases as rows
    check_nms.py rows CASES ROWS IOU OUTPUTS     compares what it predicts of them
"""
import json
import pathlib
import sys

IOU = [0.0, 0.3, 0.5, 0.9, 1.0]
cases = [json.loads(line) for line in open(sys.argv[2])]
if sys.argv[1] == "model":
    model = {
        "format": "heddle-model/1", "name": "boxes",
        "inputs": {"boxes": {"shape": ["N", 14, 4]}, "scores": {"shape": ["N", 14]}, "y": {"shape": ["N", 1]}},
        "nodes": [
            {"name": "n", "op": "nms", "in": ["boxes", "scores"], "outputs": 14, "out": ["kept", "count"]},
            {"name": "p", "op": "dense", "in": "scores", "units": 1},
        ],
        "outputs": {"kept": "kept", "count": "count"},
        "train": {"batch": {"N": 4}, "steps": 1, "loss": {"op": "mse", "in": ["p", "y"]}, "optimizer": "adam"},
        "data": {"train": {"op": "json_lines", "file": "rows.jsonl", "boxes": "boxes", "scores": "scores", "y": "y"}},
    }
    folder = pathlib.Path(sys.argv[3])
    (folder / "model.json").write_text(json.dumps(model, indent=1))
    (folder / "rows.jsonl").write_text("".join(json.dumps({"boxes": c["boxes"], "scores": c["scores"], "y": 0}) + "\n" for c in cases))
else:
    rows = [json.loads(line) for line in open(sys.argv[3])]
    iou, outputs = IOU.index(float(sys.argv[4])), int(sys.argv[5])
    assert len(cases) == len(rows), (len(cases), len(rows))
    for case, row in zip(cases, rows):
        kept = case["kept"][iou][:outputs]
        assert row["kept"] == kept + [-1] * (outputs - len(kept)) and row["count"] == len(kept), (row, kept, case)
    print(len(rows), "rows are alike")
