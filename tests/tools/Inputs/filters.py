"""Inputs of filters.hir, and whether what came out fits them: filters.py write|check FILE."""
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

IMAGE = [1.0, 10.0, 100.0] * 4  # by channel
FILTERS = [float(i) for i in range(12)]  # [2,3,1,2]


def write(path):
    tensor = lambda shape, values: safetensors_file.Tensor("F32", shape, struct.pack(f"<{len(values)}f", *values))  # noqa: E731
    safetensors_file.write(path, {"f/x": tensor([1, 2, 2, 3], IMAGE), "f/w": tensor([2, 3, 1, 2], FILTERS)})


def check(path):
    found = {name: (t.shape, t.values()) for name, t in safetensors_file.read(path)[1].items()}
    assert found["f/w"] == ([2, 3, 1, 2], [-v for v in FILTERS]), found["f/w"]
    sums = [sum(FILTERS[6 * o + 2 * i + k] * 10.0**i for i in range(3) for k in range(2)) for o in range(2)]
    assert found["f/0"] == ([1, 2, 1, 2], sums * 2), found["f/0"]


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
