"""ONNX operators that move elements."""
from .tensor import OutOfScope, elements, tensor


def axes_of(values, rank):
    return [a % rank for a in values]


def identity(t, node):
    return [t.value(node.inputs[0])]


def reshape(t, node):
    x, dims = t.value(node.inputs[0]), t.integers(node, 1, "shape")
    if not node.attr("allowzero", 0):
        dims = [x.shape[i] if d == 0 else d for i, d in enumerate(dims)]
    if -1 in dims:
        rest = -elements(dims)
        dims = [elements(x.shape) // rest if d == -1 else d for d in dims]
    return [t.graph.reshape(x, dims)]


def flatten(t, node):
    x = t.value(node.inputs[0])
    axis = node.attr("axis", 1)
    axis = axis + len(x.shape) if axis < 0 else axis
    return [t.graph.reshape(x, (elements(x.shape[:axis]), elements(x.shape[axis:])))]


def squeeze(t, node):
    x, axes = t.value(node.inputs[0]), t.integers(node, 1, "axes")
    gone = [i for i, d in enumerate(x.shape) if d == 1] if axes is None else axes_of(axes, len(x.shape))
    return [t.graph.reshape(x, [d for i, d in enumerate(x.shape) if i not in gone])]


def unsqueeze(t, node):
    x, axes = t.value(node.inputs[0]), t.integers(node, 1, "axes")
    rank = len(x.shape) + len(axes)
    axes, dims = axes_of(axes, rank), iter(x.shape)
    return [t.graph.reshape(x, [1 if i in axes else next(dims) for i in range(rank)])]


def transpose(t, node):
    x = t.value(node.inputs[0])
    return [t.graph.transpose(x, node.attr("perm") or list(range(len(x.shape)))[::-1])]


def expand(t, node):
    from .hir import broadcast_shape
    x = t.value(node.inputs[0])
    return [t.graph.broadcast(x, broadcast_shape(x.shape, tuple(t.integers(node, 1))))]


def concat(t, node):
    values = t.operands(node)
    return [t.graph.concat(values, node.attr("axis", 1) % len(values[0].shape))]


def split(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axis, sizes = node.attr("axis", 0) % len(x.shape), t.integers(node, 1, "split")
    if sizes is None:
        count = node.attr("num_outputs") or len(node.outputs)
        size = -(-x.shape[axis] // count)
        sizes = [min(size, x.shape[axis] - i * size) for i in range(count)]
    results, start = [], 0
    for size in sizes:
        starts, limits = [0] * len(x.shape), list(x.shape)
        starts[axis], limits[axis] = start, start + size
        results.append(g.slice(x, starts, limits, [1] * len(x.shape)))
        start += size
    return results


def slice_(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    starts, ends = t.integers(node, 1, "starts"), t.integers(node, 2, "ends")
    axes = axes_of(t.integers(node, 3, "axes") or range(len(starts)), len(x.shape))
    steps = t.integers(node, 4) or [1] * len(starts)
    first, limits, strides, reverse = [0] * len(x.shape), list(x.shape), [1] * len(x.shape), []
    for axis, start, end, step in zip(axes, starts, ends, steps):
        picked = range(x.shape[axis])[slice(start, clamp_end(end, step, x.shape[axis]), step)]
        if not picked:
            raise OutOfScope("empty tensor")
        first[axis], limits[axis], strides[axis] = min(picked), max(picked) + 1, abs(step)
        if step < 0:
            reverse.append(axis)
    return [g.reverse(g.slice(x, first, limits, strides), reverse)]


def clamp_end(end, step, size):
    """ONNX clamps an end below the first element to before it, where Python would count from the back."""
    return None if step < 0 and end < -size else end


def pad(t, node):
    g, x, rank = t.graph, t.value(node.inputs[0]), len(t.value(node.inputs[0]).shape)
    mode = node.attr("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise OutOfScope("Pad of mode " + mode)
    pads, fill = t.integers(node, 1, "pads"), node.attr("value", 0.0)
    if t.optional(node, 2):
        fill = t.static(node.inputs[2]).values()[0]
    axes = axes_of(t.integers(node, 3) or range(rank), rank)
    low, high = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[i + len(axes)]
    if mode != "constant":
        return [continued(g, x, low, high, mode)]
    starts = [max(0, -l) for l in low]  # negative padding cuts
    limits = [d - max(0, -h) for d, h in zip(x.shape, high)]
    if min(low + high) < 0:
        x = g.slice(x, starts, limits, [1] * rank)
    return [g.pad(x, [max(0, l) for l in low], [max(0, h) for h in high], fill=fill)]


def continued(g, x, low, high, mode):
    """Along each axis the elements that stand beyond its ends: the last one, those before it turned round, or the other end's."""
    for axis, (before, after) in enumerate(zip(low, high)):
        size = x.shape[axis]
        if min(before, after) < 0 or (mode == "reflect" and max(before, after) >= size):
            raise OutOfScope("Pad by more than there is")
        turn = 2 * (size - 1)
        place = {"edge": lambda i: min(max(i, 0), size - 1), "wrap": lambda i: i % size,
                 "reflect": lambda i: min(i % turn, turn - i % turn)}[mode]
        if before or after:
            index = [place(i) for i in range(-before, size + after)]
            shape = x.shape[:axis] + (len(index),) + x.shape[axis + 1:]
            x = g.emit("gather", [x, g.input(tensor("i64", (len(index),), index))], shape=shape, axis=axis)
    return x


def center_crop_pad(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    axes = axes_of(node.attr("axes") or range(len(x.shape)), len(x.shape))
    for axis, size in zip(axes, t.static(node.inputs[1]).values()):
        more = size - x.shape[axis]
        starts, limits, low, high = [0] * len(x.shape), list(x.shape), [0] * len(x.shape), [0] * len(x.shape)
        if more < 0:
            starts[axis] = -more // 2
            limits[axis] = starts[axis] + size
            x = g.slice(x, starts, limits, [1] * len(x.shape))
        elif more > 0:
            low[axis], high[axis] = more // 2, more - more // 2
            x = g.pad(x, low, high)
    return [x]


def tile(t, node):
    g, x, repeats = t.graph, t.value(node.inputs[0]), t.integers(node, 1)
    spread = sum(([1, d] for d in x.shape), [])
    wide = sum(([r, d] for r, d in zip(repeats, x.shape)), [])
    return [g.reshape(g.broadcast(g.reshape(x, spread), wide), [r * d for r, d in zip(repeats, x.shape)])]


def constant_of_shape(t, node):
    value, shape = node.attr("value"), t.integers(node, 0)
    if 0 in shape:
        raise OutOfScope("empty tensor")
    number, dtype = (value.values()[0], value.dtype) if value else (0.0, "f32")
    return [t.graph.constant(number, dtype, tuple(shape))]


def depth_to_space(t, node):
    g, x, b = t.graph, t.value(node.inputs[0]), node.attr("blocksize")
    n, c, h, w = x.shape
    if node.attr("mode", "DCR") == "DCR":
        y = g.transpose(g.reshape(x, (n, b, b, c // b // b, h, w)), [0, 3, 4, 1, 5, 2])
    else:
        y = g.transpose(g.reshape(x, (n, c // b // b, b, b, h, w)), [0, 1, 4, 2, 5, 3])
    return [g.reshape(y, (n, c // b // b, h * b, w * b))]


def space_to_depth(t, node):
    g, x, b = t.graph, t.value(node.inputs[0]), node.attr("blocksize")
    if node.attr("mode", "DCR") != "DCR":
        raise OutOfScope("SpaceToDepth of mode " + node.attr("mode"))
    n, c, h, w = x.shape
    y = g.transpose(g.reshape(x, (n, c, h // b, b, w // b, b)), [0, 3, 5, 1, 2, 4])
    return [g.reshape(y, (n, c * b * b, h // b, w // b))]


def trilu(t, node):
    g, x = t.graph, t.value(node.inputs[0])
    k = t.static(node.inputs[1]).values()[0] if t.optional(node, 1) else 0
    row, column = g.iota(x.shape, len(x.shape) - 2, "i64"), g.iota(x.shape, len(x.shape) - 1, "i64")
    diagonal = g.emit("add", [row, g.like(k, row)])
    keep = g.emit("ge" if node.attr("upper", 1) else "le", [column, diagonal], dtype="bool")
    return [g.select(keep, x, g.like(0, x))]


HANDLERS = {
    "Identity": identity, "Reshape": reshape, "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
    "Transpose": transpose, "Expand": expand, "Concat": concat, "Split": split, "Slice": slice_, "Pad": pad, "Tile": tile,
    "ConstantOfShape": constant_of_shape, "DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth, "Trilu": trilu,
    "CenterCropPad": center_crop_pad,
}
