"""Two weight files, or the losses of two logs, within a relative difference: compare.py A B LIMIT"""
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402


def read_weights(path):
    _, tensors = safetensors_file.read(path)
    return [value for name in sorted(tensors) for value in tensors[name].values()]


def read_losses(path):
    return [line["loss"] for line in map(json.loads, open(path)) if line["event"] == "step"]


read = read_losses if sys.argv[1].endswith(".jsonl") else read_weights
a, b, limit = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
assert len(a) == len(b) > 0, (len(a), len(b))
scale = max(map(abs, a))
worst = max(abs(x - y) for x, y in zip(a, b)) / scale
assert worst <= limit, f"{worst} of the largest"
