"""A weights file as other programs write it, and one of f32 that holds the same numbers.

    other_weights.py FILE TYPE PREFIX OUT SAME      TYPE is F16, BF16 or F64
"""
import struct
import sys

from buffers import read, write


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
    for name, (entry, data) in read(path).items():
        if entry["dtype"] != "F32":
            others[prefix + name] = floats[name] = (entry, data)
            continue
        pairs = [as_type(v, kind) for v in struct.unpack(f"<{len(data) // 4}f", data)]
        others[prefix + name] = ({**entry, "dtype": kind}, b"".join(p[0] for p in pairs))
        floats[name] = (entry, struct.pack(f"<{len(pairs)}f", *(p[1] for p in pairs)))
    write(out, others)
    write(same, floats)


main()
