"""StableHLO and CHLO operations."""
import math
import re

from .mlir import integers, parse_type
from .onnx_elementwise import same_bits
from .tensor import OutOfScope, elements

UNARY = {"abs": "abs", "negate": "neg", "exponential": "exp", "exponential_minus_one": "expm1", "log": "log",
         "log_plus_one": "log1p", "logistic": "sigmoid", "sqrt": "sqrt", "rsqrt": "rsqrt", "sine": "sin", "cosine": "cos",
         "tan": "tan", "tanh": "tanh", "floor": "floor", "ceil": "ceil", "round_nearest_even": "round", "sign": "sign",
         "not": "not", "erf": "erf", "square": "square", "cbrt": "cbrt", "asin": "asin", "acos": "acos", "atan": "atan",
         "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erfc": "erfc",
         "erf_inv": "erf_inv", "lgamma": "lgamma", "popcnt": "popcnt"}
BINARY = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min",
          "power": "pow", "remainder": "mod", "and": "and", "or": "or", "xor": "xor", "atan2": "atan2",
          "shift_left": "shift_left", "shift_right_logical": "shift_right_logical",
          "shift_right_arithmetic": "shift_right_arithmetic"}
ON_BOOLS = {"add": "or", "maximum": "or", "multiply": "and", "minimum": "and"}
REDUCE = {"add": "reduce_sum", "maximum": "reduce_max", "minimum": "reduce_min", "multiply": "reduce_prod",
          "and": "reduce_min", "or": "reduce_max"}


def operands(t, o, count=None):
    return [t.value(name) for name in o.operands[:count]]


def unary(t, o):
    return t.graph.emit(UNARY[o.op], operands(t, o))


def binary(t, o):
    a, b = operands(t, o)
    op = ON_BOOLS.get(o.op) if a.dtype == "bool" else None
    return t.graph.emit(op or BINARY[o.op], [a, b])


def compare(t, o):
    if "TOTALORDER" in o.text:
        raise OutOfScope("comparison in total order")
    direction = o.text.split()[0].rstrip(",").lower()
    return t.graph.emit(direction, operands(t, o), dtype="bool")


def is_finite(t, o):
    g, x = t.graph, t.value(o.operands[0])
    magnitude = g.emit("abs", [x])
    return g.emit("lt", [magnitude, g.like(math.inf, magnitude)], dtype="bool")


def select(t, o):
    return t.graph.select(*operands(t, o))


def clamp(t, o):
    low, x, high = operands(t, o)
    return t.graph.binary("min", t.graph.binary("max", x, low), high)


def convert(t, o):
    return t.graph.cast(t.value(o.operands[0]), parse_type(o.types[0])[0])


def bitcast_convert(t, o):
    dtype, shape = parse_type(o.types[0])
    x = t.value(o.operands[0])
    if shape != x.shape:
        raise OutOfScope("bits of elements of another width")
    return same_bits(t.graph, x, dtype)


def round_away(t, o):
    """To the nearest whole number, halves away from zero."""
    g, x = t.graph, t.value(o.operands[0])
    size = g.emit("abs", [x])
    below = g.emit("floor", [size])
    up = g.emit("ge", [g.emit("sub", [size, below]), g.like(0.5, x)], dtype="bool")
    return g.emit("mul", [g.emit("sign", [x]), g.emit("add", [below, g.cast(up, x.dtype)])])


def broadcast_in_dim(t, o):
    x, (dtype, shape) = t.value(o.operands[0]), parse_type(o.types[0])
    if elements(shape) == 0:
        raise OutOfScope("empty tensor")
    return t.graph.multi("broadcast", [x], [(dtype, shape)], shape=list(shape), dims=integers(o.text, "dims"))[0]


def reshape(t, o):
    return t.graph.reshape(t.value(o.operands[0]), parse_type(o.types[0])[1])


def transpose(t, o):
    return t.graph.transpose(t.value(o.operands[0]), integers(o.text, "dims"))


def slice_(t, o):
    spans = [[int(v) for v in span.split(":")] for span in re.search(r"\[([\d:, ]*)\]", o.text).group(1).split(",") if span.strip()]
    return t.graph.slice(t.value(o.operands[0]), [s[0] for s in spans], [s[1] for s in spans],
                         [s[2] if len(s) > 2 else 1 for s in spans])


def pad(t, o):
    g, x = t.graph, t.value(o.operands[0])
    if o.operands[1] not in t.known:
        raise OutOfScope("padding with a computed value")
    low, high = integers(o.text, "low"), integers(o.text, "high")
    if min(low + high) < 0:
        raise OutOfScope("negative padding")
    return g.pad(x, low, high, integers(o.text, "interior"), t.known[o.operands[1]].values()[0])


def concatenate(t, o):
    return t.graph.concat(operands(t, o), int(re.search(r"dim = (\d+)", o.text).group(1)))


def reverse(t, o):
    return t.graph.reverse(t.value(o.operands[0]), integers(o.text, "dims"))


def iota(t, o):
    dtype, shape = parse_type(o.types[0])
    return t.graph.iota(shape, int(re.search(r"dim = (\d+)", o.text).group(1)), dtype)


def reduce(t, o):
    g = t.graph
    match = re.search(r"applies stablehlo\.(\w+) across dimensions = \[([^\]]*)\]", o.text)
    if not match or match.group(1) not in REDUCE:
        raise OutOfScope("a reduction by a function of its own")
    op, axes = match.group(1), [int(a) for a in match.group(2).split(",") if a.strip()]
    x, start = operands(t, o, 2)
    if op in ("and", "or") and x.dtype != "bool":
        raise OutOfScope("a reduction of bits")
    narrow = x.dtype == "bool"
    y = g.reduce(REDUCE[op], g.cast(x, "u8") if narrow else x, axes)
    y = g.cast(y, "bool") if narrow else y
    return g.binary(ON_BOOLS.get(op, op) if narrow else BINARY[op], y, start)


WINDOWS = {"add": "window_sum", "multiply": "window_prod", "maximum": "window_max", "minimum": "window_min"}


def window_attributes(text, rank):
    """How window_sum and its kin say it: what is left out is left out."""
    attrs = {"window": integers(text, "window_dimensions") or [1] * rank}
    for ours, theirs in (("strides", "window_strides"), ("dilations", "window_dilations")):
        if integers(text, theirs):
            attrs[ours] = integers(text, theirs)
    if "padding = " in text:
        around = re.search(r"padding = dense<(.*?)> : tensor", text).group(1)
        pads = [int(v) for v in re.findall(r"-?\d+", around)]
        pads = pads * 2 * rank if len(pads) == 1 else pads
        if min(pads) < 0:
            raise OutOfScope("a window with less than no padding")
        attrs["pads"] = pads[::2] + pads[1::2]
    return attrs


def reduce_window(t, o):
    g = t.graph
    applied = re.findall(r"stablehlo\.(\w+) ", " ".join(o.region))
    if len(o.operands) != 2 or not applied or applied[0] not in WINDOWS or "base_dilations" in o.text:
        raise OutOfScope("a window of several tensors, by a function of its own or over spread elements")
    x, start, (dtype, shape) = t.value(o.operands[0]), t.value(o.operands[1]), parse_type(o.types[0])
    if dtype == "bool" or not x.shape:
        raise OutOfScope("a window of truth values or of a scalar")
    y = g.emit(WINDOWS[applied[0]], [x], shape=shape, **window_attributes(o.text, len(x.shape)))
    return g.binary(BINARY[applied[0]], y, g.broadcast(start, shape))


def dimension_pair(text, key):
    """key_dims = [0] x [1], or none."""
    match = re.search(key + r"_dims = \[([^\]]*)\] x \[([^\]]*)\]", text)
    return [[int(v) for v in side.split(",") if v.strip()] for side in match.groups()] if match else [[], []]


def dot_general(t, o):
    g, (a, b) = t.graph, operands(t, o, 2)
    (batch_a, batch_b), (inner_a, inner_b) = dimension_pair(o.text, "batching"), dimension_pair(o.text, "contracting")
    free_a = [d for d in range(len(a.shape)) if d not in batch_a + inner_a]
    free_b = [d for d in range(len(b.shape)) if d not in batch_b + inner_b]
    size = lambda v, dims: elements([v.shape[d] for d in dims])  # noqa: E731
    batch = tuple(a.shape[d] for d in batch_a)
    left = g.reshape(permuted(g, a, batch_a + free_a + inner_a), batch + (size(a, free_a), size(a, inner_a)))
    right = g.reshape(permuted(g, b, batch_b + inner_b + free_b), batch + (size(b, inner_b), size(b, free_b)))
    dtype, shape = parse_type(o.types[0])
    if dtype != a.dtype or a.dtype != b.dtype:
        raise OutOfScope("a product of mixed dtypes")
    return g.reshape(g.emit("matmul", [left, right], shape=batch + (left.shape[-2], right.shape[-1])), shape)


def permuted(g, v, perm):
    return v if perm == list(range(len(perm))) else g.transpose(v, perm)


def convolution(t, o):
    g, (x, w) = t.graph, operands(t, o, 2)
    spec = re.search(r"dim_numbers = \[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]", o.text)
    image, kernel, result = ([d.strip() for d in side.split(",")] for side in spec.groups())
    dtype, shape = parse_type(o.types[0])
    if elements(shape) == 0:
        raise OutOfScope("empty tensor")
    spatial = len(image) - 2
    if spatial > 2 or "reverse" in o.text or "batch_group_count = 1 " not in o.text:
        raise OutOfScope("convolution of three dimensions, reversed or in batch groups")
    window = lambda key: integers(o.text, key) or [1] * spatial  # noqa: E731
    axes = [str(i) for i in range(spatial)]
    x = permuted(g, x, [image.index(d) for d in ["b", *axes, "f"]])
    w = permuted(g, w, [kernel.index(d) for d in ["o", *axes, "i"]])
    pads = re.search(r"[{ ]pad = \[((?:\[[^\]]*\](?:, )?)*)\]", o.text)
    pads = [int(v) for v in re.findall(r"-?\d+", pads.group(1))] if pads else [0] * 2 * spatial
    strides, inner, dilations = window("stride"), window("lhs_dilate"), window("rhs_dilate")
    if max(inner) > 1:
        x = g.pad(x, [0] * len(image), [0] * len(image), [0, *[d - 1 for d in inner], 0])
    if spatial == 1:
        x, w = g.reshape(x, (x.shape[0], 1, *x.shape[1:])), g.reshape(w, (w.shape[0], 1, *w.shape[1:]))
        strides, dilations, pads = [1] + strides, [1] + dilations, [0, 0] + pads
    sizes = [(x.shape[i + 1] + pads[2 * i] + pads[2 * i + 1] - (w.shape[i + 1] - 1) * dilations[i] - 1) // strides[i] + 1
             for i in range(2)]
    groups = int(re.search(r"feature_group_count = (\d+)", o.text).group(1))
    y = g.emit("conv2d", [x, w], shape=(x.shape[0], *sizes, w.shape[0]), strides=strides, dilations=dilations, groups=groups,
               pads=[pads[0], pads[2], pads[1], pads[3]])
    y = g.reshape(y, (y.shape[0], *y.shape[3 - spatial:]))
    return permuted(g, y, [["b", *axes, "f"].index(d) for d in result])


HANDLERS = {
    **dict.fromkeys(UNARY, unary), **dict.fromkeys(BINARY, binary), "compare": compare, "is_finite": is_finite,
    "select": select, "clamp": clamp, "convert": convert, "bitcast_convert": bitcast_convert, "round_nearest_afz": round_away, "broadcast_in_dim": broadcast_in_dim, "reshape": reshape,
    "transpose": transpose, "slice": slice_, "pad": pad, "concatenate": concatenate, "reverse": reverse, "iota": iota,
    "reduce": reduce, "reduce_window": reduce_window, "dot_general": dot_general, "convolution": convolution,
}
