"""Quantised weights, decoded with Python's standard library alone.

    quantized.py compare WEIGHTS QUANTISED NAME=TYPE...   numbers within half a scale, these types, all else as it is
    quantized.py accuracy RESULT MOST                     what `quantize --json` wrote: the accuracy lost is at most MOST
    quantized.py damage QUANTISED OUT KIND                drop, shape, nan or version: of the scale of fc.weight
"""
import json
import math
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from safetensors_file import join, read, split  # noqa: E402


def decoded(name, tensors):
    """The type, the numbers, and the scale of each of them."""
    t = tensors[name]
    scale = tensors.get(name + "/scale")
    if t.dtype == "I8":
        (axis,) = [k for k, size in enumerate(scale.shape) if size == t.shape[k]] or [0]
        inner = math.prod(t.shape[axis + 1 :])
        scales = [scale.values()[i // inner % t.shape[axis]] for i in range(math.prod(t.shape))]
        return "int8", [whole * s for whole, s in zip(t.values(), scales)], scales
    if t.dtype == "U8":
        rows, columns = tensors[name + "/shape"].values()
        row_bytes, groups, values, numbers, scales = (columns + 1) // 2, -(-columns // 128), t.values(), [], []
        for i in range(rows * columns):
            row, column = divmod(i, columns)
            nibble = values[row * row_bytes + column // 2] >> column % 2 * 4 & 15
            scales.append(scale.values()[row * groups + column // 128])
            numbers.append((nibble - 16 if nibble > 7 else nibble) * scales[-1])
        return "int4", numbers, scales
    if t.dtype in ("F16", "BF16"):
        words = [word for word, in struct.iter_unpack("<H", t.data)]
        if t.dtype == "BF16":
            numbers = [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in words]
        else:
            numbers = t.values()
        # a unit in the last place: 2^-10 and 2^-7 of the number's power of two, and no less than that of the least normal one
        bits, least = (10, -14) if t.dtype == "F16" else (7, -126)
        return t.dtype.lower(), numbers, [2.0 ** (max(math.frexp(x)[1] - 1, least) - bits) for x in numbers]
    return t.dtype.lower(), None, None


def compare(weights, quantised, *expected):
    metadata, small = read(quantised)
    _, whole = read(weights)
    types = dict(word.split("=") for word in expected)
    assert {name for name in small if "/" not in name} == set(whole), (sorted(small), sorted(whole))
    for name, t in whole.items():
        kind, numbers, scales = decoded(name, small)
        assert kind == types.get(name, "f32"), (name, kind)
        if numbers is None:
            assert small[name] == t, name
            continue
        for i, (number, wanted, scale) in enumerate(zip(numbers, t.values(), scales, strict=True)):
            assert abs(number - wanted) <= 0.500001 * scale, (name, i, number, wanted, scale)
    sizes = [pathlib.Path(path).stat().st_size for path in (weights, quantised)]
    print(f"{metadata['heddle.quantized']} {metadata['heddle.quantized.version']} {metadata['heddle.quantized.model']}")
    print(f"1/{sizes[0] / sizes[1]:.1f} of the bytes")


def accuracy(result, most):
    line = json.loads(pathlib.Path(result).read_text())
    lost = line["before"]["accuracy"] - line["after"]["accuracy"]
    assert lost <= float(most), line
    assert line["before"]["accuracy"] > 0.5, line


def damage(path, out, kind):
    header, data = split(pathlib.Path(path).read_bytes())
    (name,) = [name for name in header if name.endswith("/scale")][:1]
    begin, end = header[name]["data_offsets"]
    if kind == "drop":
        data = data[:begin] + data[end:]
        del header[name]
        for t in header.values():
            if "data_offsets" in t and t["data_offsets"][0] >= end:
                t["data_offsets"] = [offset - (end - begin) for offset in t["data_offsets"]]
    elif kind == "shape":
        header[name]["shape"] = header[name]["shape"][::-1]
    elif kind == "nan":
        data = data[:begin] + struct.pack("<f", math.nan) + data[begin + 4 :]
    elif kind == "version":
        header["__metadata__"]["heddle.quantized.version"] = "7"
    else:
        raise SystemExit(f"no damage {kind}")
    pathlib.Path(out).write_bytes(join(header, data))


{"compare": compare, "accuracy": accuracy, "damage": damage}[sys.argv[1]](*sys.argv[2:])
