"""ONNX reductions."""
from .tensor import FLOATING

DIRECT = {"ReduceSum": "reduce_sum", "ReduceMean": "reduce_mean", "ReduceMax": "reduce_max", "ReduceMin": "reduce_min",
          "ReduceProd": "reduce_prod", "ReduceLogSumExp": "reduce_logsumexp"}


def arguments(t, node):
    """The operand, the axes, whether they stay as size 1."""
    x, axes = t.value(node.inputs[0]), t.integers(node, 1, "axes")
    if not axes:
        axes = [] if node.attr("noop_with_empty_axes", 0) else range(len(x.shape))
    return x, sorted(a % len(x.shape) for a in axes), bool(node.attr("keepdims", 1))


def direct(t, node):
    x, axes, keepdims = arguments(t, node)
    g = t.graph
    if x.dtype == "bool":  # the largest truth value
        return [g.cast(g.reduce(DIRECT[node.op], g.cast(x, "u8"), axes, keepdims), "bool")]
    if node.op == "ReduceMean" and x.dtype not in FLOATING:
        return [g.cast(g.reduce("reduce_mean", g.cast(x, "f64"), axes, keepdims), x.dtype)]
    return [g.reduce(DIRECT[node.op], x, axes, keepdims)]


def composed(before, after):
    """after(sum of before(x))."""
    def handler(t, node):
        x, axes, keepdims = arguments(t, node)
        g = t.graph
        if before:
            x = g.emit(before, [x])
        y = g.reduce("reduce_sum", x, axes, keepdims)
        if after and y.dtype not in FLOATING:
            return [g.cast(g.emit(after, [g.cast(y, "f64")]), y.dtype)]
        return [g.emit(after, [y]) if after else y]
    return handler


def index(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axis = node.attr("axis", 0) % len(x.shape)
    last = node.attr("select_last_index", 0)
    shape = [d for i, d in enumerate(x.shape) if i != axis]
    y = g.emit(node.op.lower(), [g.reverse(x, [axis]) if last else x], "i32", shape, axis=axis)
    if last:
        y = g.emit("sub", [g.like(x.shape[axis] - 1, y), y])
    if node.attr("keepdims", 1):
        y = g.reshape(y, [1 if i == axis else d for i, d in enumerate(x.shape)])
    return [g.cast(y, "i64")]


def prefix(op):
    def handler(t, node):
        x, axis = t.value(node.inputs[0]), t.static(node.inputs[1]).values()[0] % len(t.value(node.inputs[0]).shape)
        return [t.graph.emit(op, [x], axis=axis, reverse=bool(node.attr("reverse", 0)),
                             exclusive=bool(node.attr("exclusive", 0)))]
    return handler


HANDLERS = {
    **dict.fromkeys(DIRECT, direct), "ArgMax": index, "ArgMin": index,
    "ReduceL1": composed("abs", None), "ReduceL2": composed("square", "sqrt"), "ReduceSumSquare": composed("square", None),
    "ReduceLogSum": composed(None, "log"),
    "CumSum": prefix("cumsum"), "CumProd": prefix("cumprod"),
}
