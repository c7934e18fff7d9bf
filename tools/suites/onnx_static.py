"""Constants and shape arithmetic of ONNX graphs, folded before the IR is written: Heddle's shapes are static."""
import math

from .tensor import FLOATING, OutOfScope, elements, tensor


def constant(t, node):
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        v = node.attr(name)
        if v is None:
            continue
        if name == "value":
            return v
        dtype = "f32" if "float" in name else "i64"
        return tensor(dtype, (len(v),), v) if isinstance(v, list) else tensor(dtype, (), [v])
    raise OutOfScope("a constant of text")


def constant_of_shape(t, node):
    shape, value = t.static(node.inputs[0]).values(), node.attr("value")
    number, dtype = (value.values()[0], value.dtype) if value else (0.0, "f32")
    return tensor(dtype, shape, [number] * elements(shape))


def shape(t, node):
    dims = list(t.value(node.inputs[0]).shape)
    dims = dims[node.attr("start", 0):node.attr("end", len(dims))]
    return tensor("i64", (len(dims),), dims)


def size(t, node):
    return tensor("i64", (), [elements(t.value(node.inputs[0]).shape)])


def concat(t, node):
    parts = [t.static(n) for n in node.inputs]
    if any(len(p.shape) != 1 for p in parts):
        raise OutOfScope("a shape computed by Concat")
    values = sum((p.values() for p in parts), [])
    return tensor(parts[0].dtype, (len(values),), values)


def gather(t, node):
    data, index = t.static(node.inputs[0]), t.static(node.inputs[1])
    if len(data.shape) != 1:
        raise OutOfScope("a shape computed by Gather")
    values = data.values()
    return tensor(data.dtype, index.shape, [values[i] for i in index.values()])


def slice_(t, node):
    data = t.static(node.inputs[0])
    if len(data.shape) != 1 or len(node.inputs) < 3:
        raise OutOfScope("a shape computed by Slice")
    start, stop = t.static(node.inputs[1]).values()[0], t.static(node.inputs[2]).values()[0]
    step = t.static(node.inputs[4]).values()[0] if t.optional(node, 4) else 1
    values = data.values()[start:stop:step]
    return tensor(data.dtype, (len(values),), values)


def reshaped(shape_of):
    def handler(t, node):
        data = t.static(node.inputs[0])
        return tensor(data.dtype, shape_of(t, node, data), data.values())
    return handler


def reshape(t, node, data):
    dims = t.static(node.inputs[1]).values()
    if -1 in dims:
        rest = -elements(dims)
        dims = [elements(data.shape) // rest if d == -1 else d for d in dims]
    return dims


def unsqueeze(t, node, data):
    axes = t.integers(node, 1, "axes")
    rank = len(data.shape) + len(axes)
    axes, dims = [a % rank for a in axes], iter(data.shape)
    return [1 if i in axes else next(dims) for i in range(rank)]


def squeeze(t, node, data):
    axes = t.integers(node, 1, "axes")
    return [d for i, d in enumerate(data.shape) if (d != 1 if axes is None else i not in [a % len(data.shape) for a in axes])]


def cast_to(dtype, data):
    values = data.values()
    return tensor(dtype, data.shape, [float(v) if dtype in FLOATING else int(v) for v in values])


def cast(t, node):
    from .onnx import element_type
    return cast_to(element_type(node.attr("to")), t.static(node.inputs[0]))


def cast_like(t, node):
    like = node.inputs[1]
    dtype = t.given[like]["dtype"] if like in t.given else t.static(like).dtype
    return cast_to(dtype, t.static(node.inputs[0]))


def arithmetic(f, dtype=None):
    """Element by element; single elements repeat."""
    def handler(t, node):
        operands = [t.static(n) for n in node.inputs]
        shape = max((v.shape for v in operands), key=lambda s: (elements(s), len(s)))
        if any(elements(v.shape) != 1 and v.shape != shape for v in operands):
            raise OutOfScope("a shape computed by " + node.op)
        columns = [v.values() * (elements(shape) // elements(v.shape)) for v in operands]
        kind = operands[-1].dtype
        return tensor(dtype or kind, shape, [f(*row) for row in zip(*columns)])
    return handler


def range_(t, node):
    start, stop, step = (t.static(n) for n in node.inputs)
    first, last, by = start.values()[0], stop.values()[0], step.values()[0]
    count = max(0, -int(-(last - first) // by))
    return tensor(start.dtype, (count,), [first + i * by for i in range(count)])


def split(t, node):
    data = t.static(node.inputs[0])
    if len(data.shape) != 1:
        raise OutOfScope("a shape computed by Split")
    values, each = data.values(), -(-data.shape[0] // len(node.outputs))
    sizes, parts, at = t.integers(node, 1, "split") or [each] * len(node.outputs), [], 0
    for size in sizes:
        parts.append(tensor(data.dtype, (size,), values[at:at + size]))
        at += size
    return parts


def branch(t, node):
    """By name, functions: of the results of a branch some may be known, and others not."""
    from .onnx_loops import taken_branch
    inner, names = taken_branch(t, node)
    return {out: lambda name=name: inner.static(name) for out, name in zip(node.outputs, names)}


def quotient(a, b):
    return a / b if isinstance(a, float) else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


HANDLERS = {
    "Constant": constant, "ConstantOfShape": constant_of_shape, "Shape": shape, "Size": size, "Concat": concat,
    "Gather": gather, "Slice": slice_, "Cast": cast, "CastLike": cast_like, "Range": range_, "If": branch, "Split": split,
    "Identity": lambda t, node: t.static(node.inputs[0]),
    "Reshape": reshaped(reshape), "Unsqueeze": reshaped(unsqueeze), "Squeeze": reshaped(squeeze),
    "Add": arithmetic(lambda a, b: a + b), "Sub": arithmetic(lambda a, b: a - b), "Mul": arithmetic(lambda a, b: a * b),
    "Div": arithmetic(quotient), "Min": arithmetic(min), "Max": arithmetic(max), "Neg": arithmetic(lambda a: -a),
    "Equal": arithmetic(lambda a, b: a == b, "bool"), "And": arithmetic(lambda a, b: a and b, "bool"),
    "Ceil": arithmetic(lambda a: float(math.ceil(a))), "Relu": arithmetic(lambda a: max(a, 0)),
    "Not": arithmetic(lambda a: not a, "bool"), "Mod": arithmetic(lambda a, b: a % b), "Where": arithmetic(lambda c, a, b: a if c else b),
}
