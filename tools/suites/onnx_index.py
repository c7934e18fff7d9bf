"""ONNX operators on indices. Negative indices count from the end; Heddle's do not, so they are made positive first."""
from .tensor import OutOfScope, elements, tensor

REDUCTION = {"none": "set", "add": "add", "mul": "mul", "max": "max", "min": "min"}


def from_front(g, indices, size):
    indices = g.cast(indices, "i64")
    negative = g.emit("lt", [indices, g.like(0, indices)], dtype="bool")
    return g.select(negative, g.emit("add", [indices, g.like(size, indices)]), indices)


def coordinates_from_front(g, indices, sizes):
    """The same for vectors of coordinates, of an axis each, along the last axis."""
    indices = g.cast(indices, "i64")
    extent = g.broadcast(g.materialise(tensor("i64", (len(sizes),), sizes)), indices.shape)
    return g.select(g.emit("lt", [indices, g.like(0, indices)], dtype="bool"), g.emit("add", [indices, extent]), indices)


def gather(t, node):
    g, (x, indices) = t.graph, t.operands(node)
    axis = node.attr("axis", 0) % len(x.shape)
    shape = x.shape[:axis] + indices.shape + x.shape[axis + 1:]
    return [g.emit("gather", [x, from_front(g, indices, x.shape[axis])], shape=shape, axis=axis)]


def gather_nd(t, node):
    g, (x, indices) = t.graph, t.operands(node)
    batch, each = node.attr("batch_dims", 0), indices.shape[-1]
    indices = coordinates_from_front(g, indices, x.shape[batch:batch + each])
    shape = indices.shape[:-1] + x.shape[batch + each:]
    return [g.emit("gather_nd", [x, indices], shape=shape, batch=batch)]


def element_coordinates(g, indices, axis, size):
    """The coordinates of each element: its own, along `axis` what the indices say."""
    parts = [from_front(g, indices, size) if d == axis else g.iota(indices.shape, d, "i64")
             for d in range(len(indices.shape))]
    parts = [g.reshape(p, indices.shape + (1,)) for p in parts]
    return g.concat(parts, len(indices.shape)) if len(parts) > 1 else parts[0]


def gather_elements(t, node):
    g, (x, indices) = t.graph, t.operands(node)
    axis = node.attr("axis", 0) % len(x.shape)
    return [g.emit("gather_nd", [x, element_coordinates(g, indices, axis, x.shape[axis])], shape=indices.shape)]


def scattered(t, node, x, coordinates, updates):
    g, combine, narrow = t.graph, REDUCTION[node.attr("reduction", "none")], x.dtype == "bool"
    x, updates = (g.cast(v, "u8") if narrow else v for v in (x, updates))
    y = g.emit("scatter_nd", [x, coordinates, updates], combine=combine)
    return [g.cast(y, "bool") if narrow else y]


def scatter_elements(t, node):
    g, (x, indices, updates) = t.graph, t.operands(node)
    axis = node.attr("axis", 0) % len(x.shape)
    return scattered(t, node, x, element_coordinates(g, indices, axis, x.shape[axis]), updates)


def scatter_nd(t, node):
    x, indices, updates = t.operands(node)
    return scattered(t, node, x, coordinates_from_front(t.graph, indices, x.shape[:indices.shape[-1]]), updates)


def tensor_scatter(t, node):
    """Rows of a cache from the position of each batch on are overwritten; in a circle, where asked for."""
    g, cache, update = t.graph, t.value(node.inputs[0]), t.value(node.inputs[1])
    axis = node.attr("axis", -2) % len(cache.shape)
    batch, count, size = cache.shape[0], update.shape[axis], cache.shape[axis]
    place = g.iota((batch, count), 1, "i64")
    if t.optional(node, 2):
        first = g.reshape(g.cast(t.value(node.inputs[2]), "i64"), (batch, 1))
        place = g.binary("add", place, first)
    if node.attr("mode", "linear") == "circular":
        place = g.emit("mod", [place, g.like(size, place)])
    perm = [0, axis] + [d for d in range(1, len(cache.shape)) if d != axis]
    moved = [g.transpose(v, perm) for v in (cache, update)]
    y = g.emit("scatter_nd", [moved[0], g.reshape(place, (batch, count, 1)), moved[1]], batch=1, combine="set")
    return [g.transpose(y, [perm.index(d) for d in range(len(perm))])]


def top_k(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axis, k = node.attr("axis", -1) % len(x.shape), t.integers(node, 1, "k")
    k = k[0] if isinstance(k, list) else k
    perm = [d for d in range(len(x.shape)) if d != axis] + [axis]
    turned = g.transpose(x, perm)
    both = g.multi("argsort", [turned], [("i32", turned.shape), (x.dtype, turned.shape)],
                   descending=bool(node.attr("largest", 1)))
    cut = [g.slice(v, [0] * len(perm), list(v.shape[:-1]) + [k], [1] * len(perm)) for v in both]
    order, values = (g.transpose(v, [perm.index(d) for d in range(len(perm))]) for v in cut)
    return [values, g.cast(order, "i64")]


def one_hot(t, node):
    g, indices, depth = t.graph, t.value(node.inputs[0]), int(t.static(node.inputs[1]).values()[0])
    values = t.value(node.inputs[2])
    axis = node.attr("axis", -1) % (len(indices.shape) + 1)
    shape = indices.shape[:axis] + (depth,) + indices.shape[axis:]
    classes = g.reshape(from_front(g, indices, depth), indices.shape[:axis] + (1,) + indices.shape[axis:])
    hit = g.emit("eq", [g.broadcast(classes, shape), g.iota(shape, axis, "i64")], dtype="bool")
    off, on = (g.slice(values, [i], [i + 1], [1]) for i in range(2))
    return [g.select(hit, on, off)]


def eye_like(t, node):
    from .onnx import element_type
    g, x = t.graph, t.value(node.inputs[0])
    dtype = element_type(node.attr("dtype")) if node.attr("dtype") else x.dtype
    row, column = g.iota(x.shape, 0, "i64"), g.iota(x.shape, 1, "i64")
    hit = g.emit("eq", [g.emit("add", [row, g.like(node.attr("k", 0), row)]), column], dtype="bool")
    return [g.cast(hit, dtype)]


def picked(g, x, axis, places):
    if not places:
        raise OutOfScope("empty tensor")
    indices = g.materialise(tensor("i64", (len(places),), places))
    return g.emit("gather", [x, indices], shape=x.shape[:axis] + (len(places),) + x.shape[axis + 1:], axis=axis)


def compress(t, node):
    """The condition says how large the result is, so it is known beforehand."""
    g, x, condition = t.graph, t.value(node.inputs[0]), t.static(node.inputs[1]).values()
    axis = node.attr("axis")
    if axis is None:
        x, axis = g.reshape(x, (elements(x.shape),)), 0
    return [picked(g, x, axis % len(x.shape), [i for i, keep in enumerate(condition) if keep])]


def array_feature_extractor(t, node):
    g, (x, indices) = t.graph, t.operands(node)
    indices = g.reshape(indices, (elements(indices.shape),))
    axis = len(x.shape) - 1
    return [g.emit("gather", [x, from_front(g, indices, x.shape[axis])], shape=x.shape[:axis] + indices.shape, axis=axis)]


def reverse_sequence(t, node):
    g, (x, lengths) = t.graph, t.operands(node)
    batch, time = node.attr("batch_axis", 1), node.attr("time_axis", 0)
    perm = [batch, time] + [d for d in range(len(x.shape)) if d not in (batch, time)]
    turned = g.transpose(x, perm)
    place = g.iota(turned.shape[:2], 1, "i64")
    length = g.broadcast(g.reshape(g.cast(lengths, "i64"), (turned.shape[0], 1)), place.shape)
    mirrored = g.emit("sub", [g.emit("sub", [length, place]), g.like(1, place)])
    place = g.select(g.emit("lt", [place, length], dtype="bool"), mirrored, place)
    y = g.emit("gather_nd", [turned, g.reshape(place, place.shape + (1,))], shape=turned.shape, batch=1)
    return [g.transpose(y, [perm.index(d) for d in range(len(perm))])]


def max_unpool(t, node):
    g, (x, indices) = t.graph, t.operands(node)[:2]
    if t.optional(node, 2):
        raise OutOfScope("MaxUnpool of a given output shape")
    kernel = node.attr("kernel_shape")
    strides, pads = node.attr("strides") or [1] * len(kernel), node.attr("pads") or [0] * 2 * len(kernel)
    sizes = [(d - 1) * s + k - pads[i] - pads[i + len(kernel)]
             for i, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel))]
    shape, count = x.shape[:2] + tuple(sizes), elements(x.shape)
    flat = g.constant(0, x.dtype, (elements(shape),))
    y = g.emit("scatter", [flat, g.reshape(indices, (count,)), g.reshape(x, (count,))], combine="set")
    return [g.reshape(y, shape)]


HANDLERS = {
    "Gather": gather, "GatherND": gather_nd, "GatherElements": gather_elements, "ScatterElements": scatter_elements,
    "Scatter": scatter_elements, "ScatterND": scatter_nd, "TensorScatter": tensor_scatter, "TopK": top_k, "OneHot": one_hot,
    "EyeLike": eye_like, "Compress": compress, "ArrayFeatureExtractor": array_feature_extractor,
    "ReverseSequence": reverse_sequence, "MaxUnpool": max_unpool,
}
