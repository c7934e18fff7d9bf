"""Two folders of runs that must have come to the same: compare_runs.py FOLDER FOLDER TOLERANCE

The newest checkpoints: metadata but for times, logs and notes of the best epoch's value exactly; integers exactly; other
numbers within the tolerance, relative to the tensor's largest (as compare.py). The losses of all steps likewise.
"""
import json
import pathlib
import struct
import sys

FORMATS = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U64": "Q", "U32": "I", "BOOL": "?", "U8": "B"}
EXACT = ("heddle.step", "heddle.epoch", "heddle.step_of_epoch", "heddle.epochs_without_better", "heddle.checkpoint",
         "heddle.data", "heddle.best.epoch", "heddle.best.step")


def checkpoint(folder):
    path = max(folder.glob("checkpoint-*.safetensors"))
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__")
    header.pop("heddle/checksum")
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        form = FORMATS[entry["dtype"]]
        count = (end - begin) // struct.calcsize("<" + form)
        tensors[name] = entry["dtype"], entry["shape"], struct.unpack(f"<{count}{form}", data[8 + size:][begin:end])
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
for tensor, (dtype, shape, values) in tensors.items():
    assert others[tensor][:2] == (dtype, shape), tensor
    if dtype[0] != "F":
        integers += 1
        assert others[tensor][2] == values, tensor
    else:
        assert near(values, others[tensor][2]), (tensor, values, others[tensor][2])
one, two = losses(first), losses(second)
assert one.keys() == two.keys() == set(range(1, len(one) + 1))
assert near(list(one.values()), list(two.values()))
print(f"{len(tensors)} tensors, {integers} of integers exactly, {len(one)} losses")
