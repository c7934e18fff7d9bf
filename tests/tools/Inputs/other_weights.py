"""A weights file as other programs write it, and one of f32 that holds the same numbers.

    other_weights.py FILE TYPE PREFIX OUT SAME      TYPE is F16, BF16 or F64
"""
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from safetensors_file import Tensor, read, write  # noqa: E402


def bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16  # to the nearest, ties to even


def as_type(value, kind):
    """The bytes of the type, and the number that they are."""
    if kind == "BF16":
        return struct.pack("<H", bf16(value)), struct.unpack("<f", struct.pack("<I", bf16(value) << 16))[0]
    code = {"F16": "<e", "F64": "<d"}[kind]
    data = struct.pack(code, value)
    return data, struct.unpack(code, data)[0]


def main():
    path, kind, prefix, out, same = sys.argv[1:]
    others, floats = {}, {}
    _, tensors = read(path)
    for name, tensor in tensors.items():
        if tensor.dtype != "F32":
            others[prefix + name] = floats[name] = tensor
            continue
        pairs = [as_type(v, kind) for v in tensor.values()]
        others[prefix + name] = Tensor(kind, tensor.shape, b"".join(p[0] for p in pairs))
        floats[name] = Tensor("F32", tensor.shape, struct.pack(f"<{len(pairs)}f", *(p[1] for p in pairs)))
    write(out, others)
    write(same, floats)


main()
