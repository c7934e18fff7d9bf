"""ONNX Einsum, quantised tensors, and what is made of comparisons with places."""
import math

from .tensor import OutOfScope


def labelled(g, x, axes, order):
    """x with its axes named by `axes` as a tensor that has an axis, of size 1 perhaps, for each name of `order`."""
    for second in range(len(axes) - 1, -1, -1):  # the diagonal of two axes of one name
        first = axes.index(axes[second])
        if first != second:
            on = g.emit("eq", [g.iota(x.shape, first), g.iota(x.shape, second)], dtype="bool")
            x = g.reduce("reduce_sum", g.select(on, x, g.like(0, x)), [second])
            axes = axes[:second] + axes[second + 1:]
    kept = [a for a in order if a in axes]
    x = g.transpose(x, [axes.index(a) for a in kept]) if axes else x
    return g.reshape(x, [x.shape[kept.index(a)] if a in kept else 1 for a in order])


def einsum(t, node):
    """All products at once, summed over the axes that the result does not name."""
    g, operands = t.graph, t.operands(node)
    text, arrow, result = node.attr("equation").replace(" ", "").partition("->")
    terms = text.split(",")
    dots = max([len(x.shape) - len(term) + 3 for x, term in zip(operands, terms) if "..." in term] or [0])
    number = lambda term, count: term.replace("...", "0123456789"[10 - count:])  # noqa: E731
    named = [number(term, len(x.shape) - len(term) + 3) for x, term in zip(operands, terms)]
    if not arrow:
        letters = "".join(named)
        result = "".join(sorted(a for a in set(letters) if letters.count(a) == 1 or a.isdigit()))
    result = number(result, dots)
    order = result + "".join(sorted(set("".join(named)) - set(result)))
    product = None
    for x, axes in zip(operands, named):
        x = labelled(g, x, axes, order)
        product = x if product is None else g.binary("mul", product, x)
    return [g.reduce("reduce_sum", product, list(range(len(result), len(order))))]


# --- quantised tensors ---

def along(t, node, x, name):
    """A scale or zero point of each tensor, of each place on an axis, or of each block of such places."""
    g, v, axis, block = t.graph, t.value(name), node.attr("axis", 1), node.attr("block_size", 0)
    axis %= max(len(x.shape), 1)
    if block:
        spread = v.shape[:axis + 1] + (block,) + v.shape[axis + 1:]
        v = g.reshape(v, v.shape[:axis + 1] + (1,) + v.shape[axis + 1:])
        v = g.reshape(g.broadcast(v, spread), v.shape[:axis] + (v.shape[axis] * block,) + v.shape[axis + 2:])
        return g.slice(v, [0] * len(x.shape), list(x.shape), [1] * len(x.shape))
    if len(v.shape) == 1 and len(x.shape) > 0 and v.shape[0] > 1:
        v = g.reshape(v, [v.shape[0] if a == axis else 1 for a in range(len(x.shape))])
    return g.reshape(v, ()) if v.shape == (1,) else v


def quantize(t, node):
    from .onnx import element_type
    g, x = t.graph, t.value(node.inputs[0])
    zero = along(t, node, x, node.inputs[2]) if t.optional(node, 2) else None
    dtype = zero.dtype if zero else element_type(node.attr("output_dtype", 2))
    if dtype not in ("u8", "i8", "u16", "i16"):
        raise OutOfScope("QuantizeLinear to " + dtype)
    y = g.emit("round", [g.binary("div", x, along(t, node, x, node.inputs[1]))])
    return [g.cast(g.binary("add", y, g.cast(zero, x.dtype)) if zero else y, dtype)]


def dequantize(t, node):
    g, x, scale = t.graph, t.value(node.inputs[0]), None
    scale = along(t, node, x, node.inputs[1])
    y = g.cast(x, scale.dtype)
    if t.optional(node, 2):
        y = g.binary("sub", y, g.cast(along(t, node, x, node.inputs[2]), scale.dtype))
    return [g.binary("mul", y, scale)]


def dynamic_quantize(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axes = list(range(len(x.shape)))
    high = g.emit("max", [g.reduce("reduce_max", x, axes), g.constant(0, x.dtype)])
    low = g.emit("min", [g.reduce("reduce_min", x, axes), g.constant(0, x.dtype)])
    scale = g.scaled(g.emit("sub", [high, low]), 1 / 255)
    zero = g.emit("round", [g.emit("clamp", [g.emit("div", [g.emit("neg", [low]), scale])], low=0.0, high=255.0)])
    y = g.binary("add", g.emit("round", [g.binary("div", x, scale)]), zero)
    return [g.cast(y, "u8"), scale, g.cast(zero, "u8")]


# --- places ---

def hardmax(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axis = node.attr("axis", -1 if t.opset >= 13 else 1) % len(x.shape)
    if t.opset < 13 and axis != len(x.shape) - 1:
        raise OutOfScope("Hardmax of several axes")
    best = g.emit("argmax", [x], "i32", x.shape[:axis] + x.shape[axis + 1:], axis=axis)
    best = g.reshape(best, x.shape[:axis] + (1,) + x.shape[axis + 1:])
    return [g.cast(g.binary("eq", g.iota(x.shape, axis), best, "bool"), x.dtype)]


def one_hot(t, node):
    g, index = t.graph, t.value(node.inputs[0])
    depth, (off, on) = int(t.static(node.inputs[1]).values()[0]), t.static(node.inputs[2]).values()
    dtype, rank = t.static(node.inputs[2]).dtype, len(index.shape) + 1
    axis = node.attr("axis", -1) % rank
    index = g.cast(index, "i64")
    index = g.select(g.emit("lt", [index, g.like(0, index)], dtype="bool"), g.emit("add", [index, g.like(depth, index)]), index)
    shape = index.shape[:axis] + (depth,) + index.shape[axis:]
    hit = g.binary("eq", g.iota(shape, axis, "i64"), g.reshape(index, index.shape[:axis] + (1,) + index.shape[axis:]), "bool")
    return [g.select(hit, g.constant(on, dtype, shape), g.constant(off, dtype, shape))]


def eye_like(t, node):
    from .onnx import element_type
    g, x = t.graph, t.value(node.inputs[0])
    row = g.iota(x.shape, 0)
    diagonal = g.emit("add", [row, g.like(node.attr("k", 0), row)])
    dtype = element_type(node.attr("dtype")) if node.attr("dtype") else x.dtype
    return [g.cast(g.emit("eq", [g.iota(x.shape, 1), diagonal], dtype="bool"), dtype)]


def cosine_window(weights):
    """Sum of weights[i] cos(2 pi i n / N), with N one less where the window is symmetric."""
    def handler(t, node):
        g, size = t.graph, int(t.static(node.inputs[0]).values()[0])
        n = g.iota((size,), 0, "f32")
        angle = g.scaled(n, 2 * math.pi / (size if node.attr("periodic", 1) else size - 1))
        y = g.constant(weights[0], "f32", (size,))
        for i, w in enumerate(weights[1:], 1):
            y = g.emit("add", [y, g.scaled(g.emit("cos", [g.scaled(angle, i)]), w)])
        return [y]
    return handler


HANDLERS = {
    "Einsum": einsum, "QuantizeLinear": quantize, "DequantizeLinear": dequantize, "DynamicQuantizeLinear": dynamic_quantize,
    "Hardmax": hardmax, "OneHot": one_hot, "EyeLike": eye_like, "BlackmanWindow": cosine_window([0.42, -0.5, 0.08]),
    "HammingWindow": cosine_window([25 / 46, -21 / 46]), "HannWindow": cosine_window([0.5, -0.5]),
}
