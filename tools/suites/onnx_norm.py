"""ONNX normalisations, dropout in inference and what else a row of arithmetic makes."""
from .onnx_nn import classes_last
from .tensor import OutOfScope


def per_channel(g, v, rank):
    """A vector of channels, in dimension 1 of a value of that rank."""
    return g.reshape(v, v.shape + (1,) * (rank - 2))


def channels_first(g, y):
    rank = len(y.shape)
    return g.transpose(y, [0, rank - 1, *range(1, rank - 1)]) if rank > 2 else y


def normalized(g, x, scale, bias, axes, eps):
    """y, mean, variance of `normalize`, whose scale has the last dimensions of x."""
    statistic = [d for i, d in enumerate(x.shape) if i not in axes]
    types = [(x.dtype, x.shape), (x.dtype, statistic), (x.dtype, statistic)]
    return g.multi("normalize", [x, scale, bias], types, axes=list(axes), eps=float(eps))


def batch_norm(t, node):
    g, (x, scale, bias, mean, variance) = t.graph, t.operands(node)[:5]
    eps, rank = node.attr("epsilon", 1e-5), len(x.shape)
    if not node.attr("training_mode", 0):
        deviation = g.emit("sqrt", [g.emit("add", [variance, g.like(eps, variance)])])
        centred = g.binary("sub", x, per_channel(g, mean, rank))
        y = g.binary("div", centred, per_channel(g, deviation, rank))
        return [g.binary("add", g.binary("mul", y, per_channel(g, scale, rank)), per_channel(g, bias, rank))]
    y, batch_mean, batch_variance = normalized(g, classes_last(g, x), scale, bias, range(rank - 1), eps)
    momentum = node.attr("momentum", 0.9)
    running = [g.emit("add", [g.scaled(old, momentum), g.scaled(new, 1 - momentum)])
               for old, new in ((mean, batch_mean), (variance, batch_variance))]
    return [channels_first(g, y), *running]


def instance_norm(t, node):
    g, (x, scale, bias) = t.graph, t.operands(node)
    axes = range(1, len(x.shape) - 1)
    return [channels_first(g, normalized(g, classes_last(g, x), scale, bias, axes, node.attr("epsilon", 1e-5))[0])]


def group_norm(t, node):
    g, (x, scale, bias) = t.graph, t.operands(node)
    groups, last = node.attr("num_groups"), classes_last(g, x)
    grouped = last.shape[:-1] + (groups, last.shape[-1] // groups)
    if scale.shape[0] == groups and t.opset < 21:  # one number a group, before it was one a channel
        scale, bias = (g.reshape(g.broadcast(g.reshape(v, (groups, 1)), grouped[-2:]), grouped[-2:]) for v in (scale, bias))
    axes = [*range(1, len(grouped) - 2), len(grouped) - 1]
    scale, bias = (g.reshape(v, grouped[-2:]) for v in (scale, bias))
    y = normalized(g, g.reshape(last, grouped), scale, bias, axes, node.attr("epsilon", 1e-5))[0]
    return [channels_first(g, g.reshape(y, last.shape))]


def rms_norm(t, node):
    g, (x, scale) = t.graph, t.operands(node)
    axes = list(range(node.attr("axis", -1) % len(x.shape), len(x.shape)))
    mean = g.reduce("reduce_mean", g.emit("square", [x]), axes, keepdims=True)
    factor = g.emit("rsqrt", [g.emit("add", [mean, g.like(node.attr("epsilon", 1e-5), mean)])])
    return [g.binary("mul", g.binary("mul", x, factor), scale)]


def mean_variance_norm(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axes = [a % len(x.shape) for a in node.attr("axes") or [0, 2, 3]]
    centred = g.binary("sub", x, g.reduce("reduce_mean", x, axes, keepdims=True))
    deviation = g.emit("sqrt", [g.reduce("reduce_mean", g.emit("square", [centred]), axes, keepdims=True)])
    return [g.binary("div", centred, g.emit("add", [deviation, g.like(1e-9, deviation)]))]


def lp_norm(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axis, p = node.attr("axis", -1) % len(x.shape), node.attr("p", 2)
    if p == 1:
        norm = g.reduce("reduce_sum", g.emit("abs", [x]), [axis], keepdims=True)
    else:
        norm = g.emit("sqrt", [g.reduce("reduce_sum", g.emit("square", [x]), [axis], keepdims=True)])
    zero = g.binary("eq", norm, g.like(0, norm), "bool")  # rows of zeros stay zeros
    return [g.binary("div", x, g.select(zero, g.like(1, norm), norm))]


def dropout(t, node):
    """The identity, in inference and where nothing is dropped; random masks are another generator's."""
    x = t.value(node.inputs[0])
    training = bool(t.optional(node, 2)) and t.static(node.inputs[2]).values()[0]
    ratio = t.static(node.inputs[1]).values()[0] if t.optional(node, 1) else node.attr("ratio", 0.5)
    if training and ratio != 0:
        raise OutOfScope("random numbers of another generator")
    results = [t.graph.emit("dropout", [x, t.graph.constant(0, "i64"), t.graph.constant(0, "i64")], rate=0.0, stream=0)]
    return results + [t.graph.constant(1, "bool", x.shape)] if len(node.outputs) > 1 else results


def hardmax(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    if t.opset < 13:
        raise OutOfScope("Hardmax of a matrix")
    axis = node.attr("axis", -1) % len(x.shape)
    place = g.emit("argmax", [x], "i32", x.shape[:axis] + x.shape[axis + 1:], axis=axis)
    place = g.reshape(place, x.shape[:axis] + (1,) + x.shape[axis + 1:])
    return [g.cast(g.binary("eq", g.iota(x.shape, axis), place, "bool"), x.dtype)]


def center_crop_pad(t, node):
    g, x, sizes = t.graph, t.value(node.inputs[0]), t.static(node.inputs[1]).values()
    rank = len(x.shape)
    axes = [a % rank for a in node.attr("axes") or range(rank)]
    low, high, starts, limits = [0] * rank, [0] * rank, [0] * rank, list(x.shape)
    for axis, size in zip(axes, sizes):
        missing = size - x.shape[axis]
        if missing > 0:
            low[axis], high[axis] = missing // 2, missing - missing // 2
        else:
            starts[axis] = -missing // 2
            limits[axis] = starts[axis] + size
    return [g.pad(g.slice(x, starts, limits, [1] * rank), low, high)]


HANDLERS = {
    "BatchNormalization": batch_norm, "InstanceNormalization": instance_norm, "GroupNormalization": group_norm,
    "RMSNormalization": rms_norm, "MeanVarianceNormalization": mean_variance_norm, "LpNormalization": lp_norm,
    "Dropout": dropout, "Hardmax": hardmax, "CenterCropPad": center_crop_pad,
}
