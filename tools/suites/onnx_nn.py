"""ONNX matrix products, convolution, pooling, softmax, layer normalisation and losses. Images turn from NCHW to NHWC and back."""
import copy

from .hir import broadcast_shape
from .tensor import OutOfScope, elements


def matmul(t, node):
    g, (a, b) = t.graph, t.operands(node)
    row, column = len(a.shape) == 1, len(b.shape) == 1
    a = g.reshape(a, (1,) + a.shape) if row else a
    b = g.reshape(b, b.shape + (1,)) if column else b
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])
    a, b = g.broadcast(a, batch + a.shape[-2:]), g.broadcast(b, batch + b.shape[-2:])
    y = g.emit("matmul", [a, b], shape=batch + (a.shape[-2], b.shape[-1]))
    shape = batch + (() if row else y.shape[-2:-1]) + (() if column else y.shape[-1:])
    return [g.reshape(y, shape)]


def gemm(t, node):
    g, a, b = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    ta, tb = bool(node.attr("transA", 0)), bool(node.attr("transB", 0))
    shape = (a.shape[1 if ta else 0], b.shape[0 if tb else 1])
    y = g.scaled(g.emit("matmul", [a, b], shape=shape, transpose_a=ta, transpose_b=tb), node.attr("alpha", 1.0))
    if t.optional(node, 2):
        y = g.binary("add", y, g.scaled(t.value(node.inputs[2]), node.attr("beta", 1.0)))
    return [y]


# --- windows ---

def plane(g, x):
    """NCHW (or NCW, as images of height 1) to NHWC."""
    if len(x.shape) == 3:
        x = g.reshape(x, x.shape[:2] + (1,) + x.shape[2:])
    if len(x.shape) != 4:
        raise OutOfScope("windows over %d dimensions" % (len(x.shape) - 2))
    return g.transpose(x, [0, 2, 3, 1])


def unplane(g, y, rank):
    y = g.transpose(y, [0, 3, 1, 2])
    return g.reshape(y, y.shape[:2] + y.shape[3:]) if rank == 3 else y


class Window:
    """Size, strides, dilations and pads of the two axes, attributes filled in as ONNX defines them."""

    def __init__(self, node, sizes, image, ceil=False):
        one = len(sizes) == 1
        both = (lambda v, d: [d] + list(v)) if one else (lambda v, d: list(v))
        self.size, image = both(sizes, 1), both(image, 1)
        self.strides = both(node.attr("strides") or [1] * len(sizes), 1)
        self.dilations = both(node.attr("dilations") or [1] * len(sizes), 1)
        pads = node.attr("pads") or [0] * 2 * len(sizes)
        low, high = both(pads[:len(sizes)], 0), both(pads[len(sizes):], 0)
        reach = [(k - 1) * d + 1 for k, d in zip(self.size, self.dilations)]
        auto = node.attr("auto_pad", "NOTSET")
        for i in range(2):
            if auto in ("SAME_UPPER", "SAME_LOWER"):
                total = max(0, (-(-image[i] // self.strides[i]) - 1) * self.strides[i] + reach[i] - image[i])
                low[i], high[i] = (total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2)
            if ceil:
                high[i] += self.rounding(image[i] + low[i] + high[i], reach[i], self.strides[i], image[i] + low[i])
        self.pads = low + high
        self.out = [(image[i] + low[i] + high[i] - reach[i]) // self.strides[i] + 1 for i in range(2)]

    @staticmethod
    def rounding(padded, reach, stride, real):
        """What rounding the number of windows up adds to the padding; a last window has to begin before the far padding."""
        count = -(-(padded - reach) // stride) + 1
        if (count - 1) * stride >= real:
            count -= 1
        return max(0, (count - 1) * stride + reach - padded)


def filters(g, w):
    """Of [o, i, h, w], which ONNX has, to [o, h, w, i]."""
    return g.transpose(w, [0, 2, 3, 1])


def conv(t, node):
    g, x, w = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    if len(x.shape) == 5:
        y = volume_conv(t, node, x, w)
        return [g.binary("add", y, g.reshape(t.value(node.inputs[2]), (w.shape[0], 1, 1, 1)))
                if t.optional(node, 2) else y]
    return [conv_planes(t, node, x, w, node.inputs[2] if t.optional(node, 2) else None)]


def volume_conv(t, node, x, w):
    """The sum over the filters' depth of convolutions of planes."""
    g, (n, c, d, _, _), total = t.graph, x.shape, None
    stride, dilation = (node.attr(name, [1, 1, 1])[0] for name in ("strides", "dilations"))
    pads = node.attr("pads", [0] * 6)
    x = g.pad(x, [0, 0, pads[0], 0, 0], [0, 0, pads[3], 0, 0]) if pads[0] or pads[3] else x
    out = (x.shape[2] - (w.shape[2] - 1) * dilation - 1) // stride + 1
    for k in range(w.shape[2]):
        first = k * dilation
        part = g.slice(x, [0, 0, first, 0, 0], [n, c, first + (out - 1) * stride + 1, *x.shape[3:]], [1, 1, stride, 1, 1])
        planes = g.reshape(g.transpose(part, [0, 2, 1, 3, 4]), (n * out, c, *x.shape[3:]))
        plane_filters = g.reshape(g.slice(w, [0, 0, k, 0, 0], [*w.shape[:2], k + 1, *w.shape[3:]], [1] * 5),
                                  w.shape[:2] + w.shape[3:])
        y = conv_planes(t, sided(node, 1, 3), planes, plane_filters, None)
        total = y if total is None else g.emit("add", [total, y])
    return g.transpose(g.reshape(total, (n, out, *total.shape[1:])), [0, 2, 1, 3, 4])


def conv_planes(t, node, x, w, bias):
    g = t.graph
    window, rank, groups = Window(node, w.shape[2:], x.shape[2:]), len(x.shape), node.attr("group", 1)
    w = g.reshape(w, w.shape[:2] + (1,) + w.shape[2:]) if rank == 3 else w
    image = plane(g, x)
    y = g.emit("conv2d", [image, filters(g, w)], shape=(image.shape[0], *window.out, w.shape[0]), strides=window.strides,
               pads=window.pads, dilations=window.dilations, groups=groups)
    y = g.binary("add", y, t.value(bias)) if bias else y
    return unplane(g, y, rank)


def without_zero_point(t, x, name, axis):
    """A quantised tensor minus its zero point, which all places of `axis` may have one of."""
    g, y = t.graph, t.graph.cast(x, "f64")  # whole numbers up to 2^53 are exact
    if not name:
        return y
    zero = g.cast(t.value(name), "f64")
    if len(zero.shape) == 1 and zero.shape[0] > 1:
        zero = g.reshape(zero, [zero.shape[0] if a == axis else 1 for a in range(len(x.shape))])
    return g.binary("sub", y, g.reshape(zero, ()) if zero.shape == (1,) else zero)


def conv_integer(t, node):
    x = without_zero_point(t, t.value(node.inputs[0]), t.optional(node, 2), 1)
    w = without_zero_point(t, t.value(node.inputs[1]), t.optional(node, 3), 0)
    return [t.graph.cast(conv_planes(t, node, x, w, None), "i32")]


def conv_transpose(t, node):
    """The gradient of a convolution by its image."""
    g, x, w = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    if len(x.shape) != 4 or node.attr("output_shape") or node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise OutOfScope("ConvTranspose of a given output shape or of other than two dimensions")
    strides, dilations = node.attr("strides") or [1, 1], node.attr("dilations") or [1, 1]
    pads, extra, groups = node.attr("pads") or [0] * 4, node.attr("output_padding") or [0, 0], node.attr("group", 1)
    size = [strides[i] * (x.shape[i + 2] - 1) + extra[i] + (w.shape[i + 2] - 1) * dilations[i] + 1 - pads[i] - pads[i + 2]
            for i in range(2)]
    image = (x.shape[0], *size, w.shape[1] * groups)
    y = g.emit("conv2d_data_grad", [plane(g, x), filters(g, w)], shape=image, input=list(image), strides=strides, pads=pads,
               dilations=dilations, groups=groups)
    if t.optional(node, 2):
        y = g.binary("add", y, t.value(node.inputs[2]))
    return [unplane(g, y, 4)]


def pool(t, node):
    x = t.value(node.inputs[0])
    if len(x.shape) == 5:
        return [volume_pool(t, node, x)]
    return pool_planes(t, node, x, node.attr("kernel_shape"))


def sided(node, first, last):
    """The node's attributes for axes [first, last) of its windows alone."""
    part, count = copy.copy(node), 3
    attrs = dict(node.entry["attrs"])
    for name in ("strides", "dilations"):
        if node.attr(name):
            attrs[name] = {"ints": node.attr(name)[first:last]}
    if node.attr("pads"):
        pads = node.attr("pads")
        attrs["pads"] = {"ints": pads[first:last] + pads[count + first:count + last]}
    part.entry = {**node.entry, "attrs": attrs}
    return part


def volume_pool(t, node, x):
    """First over height and width of each plane, then over depth: the largest of the largest, the mean of equally many means."""
    g, size = t.graph, node.attr("kernel_shape")
    n, c, d, h, w = x.shape
    planes = g.reshape(g.transpose(x, [0, 2, 1, 3, 4]), (n * d, c, h, w))
    y = pool_planes(t, sided(node, 1, 3), planes, size[1:])[0]
    h, w = y.shape[2:]
    lines = g.reshape(g.transpose(g.reshape(y, (n, d, c, h * w)), [0, 2, 3, 1]), (n, c * h * w, d))
    y = pool_planes(t, sided(node, 0, 1), lines, size[:1])[0]
    return g.transpose(g.reshape(y, (n, c, h, w, y.shape[2])), [0, 1, 4, 2, 3])


def pool_planes(t, node, x, size):
    g = t.graph
    window = Window(node, size, x.shape[2:], ceil=bool(node.attr("ceil_mode", 0)))
    if any(p >= (k - 1) * d + 1 for p, k, d in zip(window.pads, window.size * 2, window.dilations * 2)):
        raise OutOfScope("pooling windows that lie in the padding alone")
    attrs = {"window": window.size, "strides": window.strides, "pads": window.pads, "dilations": window.dilations}
    image = plane(g, x)
    shape = (image.shape[0], *window.out, image.shape[3])
    if node.op == "MaxPool":
        y, index = g.multi("max_pool2d", [image], [(x.dtype, shape), ("i32", shape)], **attrs)
        results = [unplane(g, y, len(x.shape))]
        return results + ([unplane(g, places(g, node, index, image, window), len(x.shape))] if len(node.outputs) > 1 else [])
    whole = bool(node.attr("count_include_pad", 0)) or node.op == "LpPool"
    if whole and node.attr("ceil_mode", 0) and window.pads != Window(node, size, x.shape[2:]).pads:
        raise OutOfScope("averages that count the given padding but not what rounding up adds")
    if node.op == "LpPool":
        return [unplane(g, norms(g, node.attr("p", 2), image, shape, attrs), len(x.shape))]
    y = g.emit("avg_pool2d", [image], shape=shape, count_include_pad=whole, **attrs)
    return [unplane(g, y, len(x.shape))]


def norms(g, p, image, shape, attrs):
    """The p-th root of the sum of the p-th powers in each window."""
    powers = g.emit("pow", [g.emit("abs", [image]), g.like(p, image)])
    sums = g.scaled(g.emit("avg_pool2d", [powers], shape=shape, **attrs), elements(attrs["window"]))
    return g.emit("pow", [sums, g.like(1 / p, sums)])


def places(g, node, index, image, window):
    """Row-major places in the whole NCHW tensor of the elements at `index` of their windows."""
    n, h, w, c = image.shape
    along = lambda axis: g.iota(index.shape, axis, "i32")  # noqa: E731
    line = lambda v, by: g.emit("mul", [v, g.like(by, v)])  # noqa: E731
    total = g.emit("add", [line(along(0), c * h * w), line(along(3), h * w)])
    taps = [g.emit("div", [index, g.like(window.size[1], index)]), g.emit("mod", [index, g.like(window.size[1], index)])]
    steps = [1, h] if node.attr("storage_order", 0) else [w, 1]
    for axis, (tap, step) in enumerate(zip(taps, steps)):
        begin = g.emit("sub", [line(along(axis + 1), window.strides[axis]), g.like(window.pads[axis], index)])
        total = g.emit("add", [total, line(g.emit("add", [begin, line(tap, window.dilations[axis])]), step)])
    return g.cast(total, "i64")


def global_pool(op):
    def handler(t, node):
        x = t.value(node.inputs[0])
        return [t.graph.reduce(op, x, list(range(2, len(x.shape))), keepdims=True)]
    return handler


# --- rows ---

def softmax(op):
    def handler(t, node):
        g, x = t.graph, t.value(node.inputs[0])
        axis = node.attr("axis", -1 if t.opset >= 13 else 1) % len(x.shape)
        if t.opset >= 13:
            return [g.emit(op, [x], axis=axis)]
        flat = g.reshape(x, (elements(x.shape[:axis]), elements(x.shape[axis:])))
        return [g.reshape(g.emit(op, [flat], axis=1), x.shape)]
    return handler


def layer_norm(t, node):
    g, x, scale = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    axis, eps = node.attr("axis", -1) % len(x.shape), float(node.attr("epsilon", 1e-5))
    width = elements(x.shape[axis:])
    bias = t.value(node.inputs[2]) if t.optional(node, 2) else g.like(0, scale)
    rows = g.reshape(x, (elements(x.shape[:axis]), width))
    y = g.emit("layer_norm", [rows, g.reshape(scale, (width,)), g.reshape(bias, (width,))], eps=eps)
    mean = g.reduce("reduce_mean", rows, [1], keepdims=True)
    variance = g.reduce("reduce_mean", g.emit("square", [g.binary("sub", rows, mean)]), [1])
    deviation = g.emit("rsqrt", [g.emit("add", [variance, g.like(eps, variance)])])
    kept = x.shape[:axis] + (1,) * (len(x.shape) - axis)
    return [g.reshape(y, x.shape), g.reshape(mean, kept), g.reshape(deviation, kept)][:len(node.outputs)]


# --- losses ---

def classes_last(g, x):
    rank = len(x.shape)
    return g.transpose(x, [0, *range(2, rank), 1]) if rank > 2 else x


def loss(t, node):
    """Softmax cross entropy of scores, or negative log likelihood of log probabilities, classes in dimension 1."""
    g, scores, labels = t.graph, t.value(node.inputs[0]), g_cast(t, node.inputs[1])
    weight, ignored, reduction = t.optional(node, 2), node.attr("ignore_index"), node.attr("reduction", "mean")
    logits = node.op == "SoftmaxCrossEntropyLoss"
    rows = classes_last(g, scores)
    index = -100 if ignored is None else ignored
    results = []
    if logits and reduction == "mean" and not weight:
        results.append(g.emit("cross_entropy", [rows, labels], shape=(), ignore_index=index))
    else:
        log_probability = g.emit("log_softmax", [rows], axis=len(rows.shape) - 1) if logits else rows
        results.append(weighted_loss(t, log_probability, labels, weight and t.value(weight), index, reduction))
    if len(node.outputs) > 1:
        results.append(g.emit("log_softmax", [scores], axis=1))
    return results


def g_cast(t, name):
    return t.graph.cast(t.value(name), "i32")


def causal_conv(t, node):
    """A filter of each channel over a sequence [N,C,T], which sees the steps before; they are handed on as a state."""
    g, x, w = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    rows, channels, steps = x.shape
    count = w.shape[2]
    past = t.optional(node, 3)
    x = g.concat([t.value(past), x], 2) if past else g.pad(x, [0, 0, count - 1], [0, 0, 0])
    y = None
    for k in range(count):
        seen = g.slice(x, [0, 0, k], [rows, channels, k + steps], [1, 1, 1])
        factor = g.reshape(g.slice(w, [0, 0, k], [channels, 1, k + 1], [1, 1, 1]), (1, channels, 1))
        term = g.binary("mul", seen, factor)
        y = term if y is None else g.emit("add", [y, term])
    if t.optional(node, 2):
        y = g.binary("add", y, g.reshape(t.value(node.inputs[2]), (1, channels, 1)))
    activation = node.attr("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise OutOfScope("CausalConvWithState with " + activation)
    y = y if activation == "none" else g.emit("silu", [y])
    return [y, g.slice(x, [0, 0, steps], list(x.shape), [1, 1, 1])]


def weighted_loss(t, log_probability, labels, weight, index, reduction):
    g, axis = t.graph, len(log_probability.shape) - 1
    classes = g.iota(log_probability.shape, axis)
    hit = g.binary("eq", classes, g.reshape(labels, labels.shape + (1,)), "bool")
    zero = g.like(0, log_probability)
    picked = g.reduce("reduce_sum", g.select(hit, log_probability, zero), [axis])
    if weight is None:
        weights = g.like(1, picked)
    else:
        weights = g.reduce("reduce_sum", g.select(hit, g.broadcast(weight, log_probability.shape), zero), [axis])
    valid = g.emit("ne", [labels, g.like(index, labels)], dtype="bool")
    weights = g.select(valid, weights, g.like(0, weights))
    rows = g.emit("neg", [g.emit("mul", [picked, weights])])
    if reduction == "none":
        return rows
    axes = list(range(len(rows.shape)))
    total = g.reduce("reduce_sum", rows, axes)
    return total if reduction == "sum" else g.emit("div", [total, g.reduce("reduce_sum", weights, axes)])


HANDLERS = {
    "MatMul": matmul, "Gemm": gemm, "Conv": conv, "ConvInteger": conv_integer, "ConvTranspose": conv_transpose, "MaxPool": pool, "AveragePool": pool,
    "LpPool": pool, "CausalConvWithState": causal_conv,
    "GlobalAveragePool": global_pool("reduce_mean"), "GlobalMaxPool": global_pool("reduce_max"),
    "Softmax": softmax("softmax"), "LogSoftmax": softmax("log_softmax"), "LayerNormalization": layer_norm,
    "SoftmaxCrossEntropyLoss": loss, "NegativeLogLikelihoodLoss": loss,
}
