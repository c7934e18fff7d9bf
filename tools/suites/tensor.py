"""Tensors as bytes: dtypes, values, safetensors files, comparison. Python's standard library only."""
import base64
import json
import math
import struct
from dataclasses import dataclass

# dtype -> (struct code, bytes, name in a safetensors header); bf16 has no struct code.
DTYPES = {
    "f64": ("d", 8, "F64"), "f32": ("f", 4, "F32"), "f16": ("e", 2, "F16"), "bf16": ("", 2, "BF16"),
    "i64": ("q", 8, "I64"), "i32": ("i", 4, "I32"), "i16": ("h", 2, "I16"), "i8": ("b", 1, "I8"),
    "u64": ("Q", 8, "U64"), "u32": ("I", 4, "U32"), "u16": ("H", 2, "U16"), "u8": ("B", 1, "U8"),
    "bool": ("?", 1, "BOOL"),
}
FLOATING = ("f64", "f32", "f16", "bf16")
SAVED = {saved: dtype for dtype, (_, _, saved) in DTYPES.items()}


class OutOfScope(Exception):
    """A case that asks for something Heddle does not claim; the text is the reason that is counted."""


@dataclass
class Tensor:
    dtype: str
    shape: tuple
    data: bytes

    def values(self):
        """A flat list of Python numbers."""
        code, width, _ = DTYPES[self.dtype]
        count = len(self.data) // width
        if self.dtype == "bf16":
            wide = b"".join(b"\0\0" + self.data[2 * i:2 * i + 2] for i in range(count))
            return list(struct.unpack("<%df" % count, wide))
        return list(struct.unpack("<%d%s" % (count, code), self.data))


def elements(shape):
    return math.prod(shape)


def tensor(dtype, shape, values):
    code, _, _ = DTYPES[dtype]
    if dtype == "bf16":
        return Tensor(dtype, tuple(shape), b"".join(struct.pack("<f", v)[2:] for v in values))
    if code in "bhiqBHIQ":
        values = [int(v) for v in values]
    return Tensor(dtype, tuple(shape), struct.pack("<%d%s" % (len(values), code), *values))


def from_case(entry, names):
    """A tensor of a suite's line; `names` maps the suite's dtypes to ours."""
    dtype = names.get(entry["dtype"])
    if dtype is None:
        raise OutOfScope("dtype " + entry["dtype"])
    data = base64.b64decode(entry["b64"])
    shape = tuple(entry["shape"])
    if len(data) != elements(shape) * DTYPES[dtype][1]:
        raise ValueError("%d bytes do not hold %s%s" % (len(data), dtype, list(shape)))
    return Tensor(dtype, shape, data)


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": DTYPES[t.dtype][2], "shape": list(t.shape), "data_offsets": [offset, offset + len(t.data)]}
        offset += len(t.data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            file.write(t.data)


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<Q", raw[:8])[0]
    header, body, tensors = json.loads(raw[8:8 + size]), raw[8 + size:], {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = Tensor(SAVED[entry["dtype"]], tuple(entry["shape"]), body[begin:end])
    return tensors


@dataclass
class Tolerance:
    """Each element is close, or a few units in the last place away; or, with `nmse`, the squared error over all is small."""
    relative: float = 1e-3
    absolute: float = 1e-7
    units: int = 0
    nmse: float = None


# Significand bits and the exponent of the smallest normal number.
PRECISION = {"f64": (53, -1022), "f32": (24, -126), "f16": (11, -14), "bf16": (8, -126)}


def unit(dtype, value):
    """The distance of neighbours of that dtype around a value."""
    digits, least = PRECISION[dtype]
    exponent = max(math.frexp(value)[1] - 1, least) if value else least
    return math.ldexp(1.0, exponent - digits + 1)


def difference(actual, expected, tolerance):
    """Why two tensors differ by more than the tolerance, or None."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return "is %s%s, expected %s%s" % (actual.dtype, list(actual.shape), expected.dtype, list(expected.shape))
    a, e = actual.values(), expected.values()
    if expected.dtype not in FLOATING:
        wrong = [i for i, (x, y) in enumerate(zip(a, e)) if x != y]
        return "element %d is %s, expected %s" % (wrong[0], a[wrong[0]], e[wrong[0]]) if wrong else None
    finite = []
    for i, (x, y) in enumerate(zip(a, e)):
        if math.isfinite(x) and math.isfinite(y):
            finite.append((x, y))
        elif not (x == y or math.isnan(x) and math.isnan(y)):
            return "element %d is %s, expected %s" % (i, x, y)
    if tolerance.nmse is not None:
        error, size = sum((x - y) ** 2 for x, y in finite), sum(y * y for _, y in finite)
        if error <= tolerance.nmse * size:
            return None
        if expected.dtype in ("f64", "f32"):  # 16 bits may round by more than that: they have the elements' tolerance
            return "normalised mean square error %.3g" % (error / size if size else math.inf)
    for x, y in finite:
        if abs(x - y) > max(tolerance.absolute + tolerance.relative * abs(y), tolerance.units * unit(expected.dtype, y)):
            return "an element is %.9g, expected %.9g" % (x, y)
    return None
