"""Two folders of runs that must have come to the same: compare_runs.py FOLDER FOLDER TOLERANCE

The newest checkpoints: metadata but for times, logs and notes of the best epoch's value exactly; integers exactly; other
numbers within the tolerance, relative to the tensor's largest (as compare.py). The losses of all steps likewise.
"""
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

EXACT = ("heddle.step", "heddle.epoch", "heddle.step_of_epoch", "heddle.epochs_without_better", "heddle.checkpoint",
         "heddle.data", "heddle.best.epoch", "heddle.best.step")


def checkpoint(folder):
    path = max(folder.glob("checkpoint-*.safetensors"))
    metadata, tensors = safetensors_file.read(path)
    del tensors[safetensors_file.CHECKSUM]
    return path.name, metadata, tensors


def losses(folder):
    events = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return {e["step"]: e["loss"] for e in events if e["event"] == "step"}


def near(a, b):
    return all(abs(x - y) <= tolerance * max(map(abs, a)) for x, y in zip(a, b, strict=True))


first, second, tolerance = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
(name, metadata, tensors), (other_name, other_metadata, others) = checkpoint(first), checkpoint(second)
assert name == other_name, (name, other_name)
for key in EXACT:
    assert metadata.get(key) == other_metadata.get(key), key
seed = [json.loads(m["heddle.model"])["train"].get("seed") for m in (metadata, other_metadata)]
assert seed[0] == seed[1], seed
assert tensors.keys() == others.keys()
integers = 0
for name, tensor in tensors.items():
    other = others[name]
    assert (other.dtype, other.shape) == (tensor.dtype, tensor.shape), name
    if tensor.dtype[0] != "F":
        integers += 1
        assert other.data == tensor.data, name
    else:
        assert near(tensor.values(), other.values()), (name, tensor.values(), other.values())
one, two = losses(first), losses(second)
assert one.keys() == two.keys() == set(range(1, len(one) + 1))
assert near(list(one.values()), list(two.values()))
print(f"{len(tensors)} tensors, {integers} of integers exactly, {len(one)} losses")
