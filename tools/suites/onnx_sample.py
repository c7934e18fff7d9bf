"""ONNX operators that read or add up at computed places: GridSample, AffineGrid, Col2Im, RotaryEmbedding."""
import itertools
import math

from .tensor import elements, tensor


# --- images at points of a grid ---

def reflected(g, x, size, align):
    """Back and forth between the first and the last element, or their outer edges."""
    low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
    if span == 0:
        return g.like(0, x)
    away = g.emit("mod", [g.emit("abs", [g.emit("sub", [x, g.like(low, x)])]), g.like(2 * span, x)])
    folded = g.emit("min", [away, g.emit("sub", [g.like(2 * span, x), away])])
    return g.emit("add", [folded, g.like(low, x)])


class Axis:
    """Places along one axis of the image: taps of the interpolation as (index, inside or None, weight or None)."""

    def __init__(self, g, grid, size, align, padding):
        self.g, self.size, self.align, self.padding = g, size, align, padding
        half = g.scaled(g.emit("add", [grid, g.like(1, grid)]), (size - 1) / 2 if align else size / 2)
        self.x = half if align else g.emit("sub", [half, g.like(0.5, half)])

    def padded(self, x):
        if self.padding == "border":
            return self.g.emit("clamp", [x], low=0.0, high=self.size - 1.0)
        return reflected(self.g, x, self.size, self.align) if self.padding == "reflection" else x

    def tap(self, x, weight=None):
        g, x = self.g, self.padded(x)
        inside = None
        if self.padding == "zeros":
            inside = g.emit("and", [g.emit("ge", [x, g.like(0, x)], dtype="bool"),
                                    g.emit("lt", [x, g.like(self.size, x)], dtype="bool")])
            x = g.emit("clamp", [x], low=0.0, high=self.size - 1.0)
        return g.cast(x, "i64"), inside, weight

    def taps(self, mode):
        g = self.g
        if mode == "nearest":
            return [self.tap(g.emit("round", [self.x]))]
        x = self.padded(self.x)
        first = g.emit("floor", [x])
        t = g.emit("sub", [x, first])
        if mode in ("linear", "bilinear"):
            weights = {0: g.emit("sub", [g.like(1, t), t]), 1: t}
        else:
            weights = {k: self.cubic(g.emit("abs", [g.emit("sub", [t, g.like(k, t)])]), abs(k - 0.5) > 1) for k in (-1, 0, 1, 2)}
        return [self.tap(g.emit("add", [first, g.like(k, first)]), w) for k, w in weights.items()]

    def cubic(self, d, far, a=-0.75):
        """Keys' kernel at a distance below 1, or from 1 to 2."""
        coefficients = (a, -5 * a, 8 * a, -4 * a) if far else (a + 2, -(a + 3), 0.0, 1.0)
        y = self.g.like(coefficients[0], d)
        for c in coefficients[1:]:
            y = self.g.emit("add", [self.g.emit("mul", [y, d]), self.g.like(c, d)])
        return y


def grid_sample(t, node):
    g, (x, grid) = t.graph, t.operands(node)
    rank, align = len(x.shape) - 2, bool(node.attr("align_corners", 0))
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    places = grid.shape[:-1]
    axes = []
    for d in range(rank):  # the grid holds the last axis first
        first, limits = [0] * len(grid.shape), list(grid.shape)
        first[-1], limits[-1] = rank - 1 - d, rank - d
        part = g.reshape(g.slice(grid, first, limits, [1] * len(first)), places)
        axes.append(Axis(g, part, x.shape[2 + d], align, padding).taps(mode))
    image = g.transpose(x, [0, *range(2, rank + 2), 1])
    total = None
    for taps in itertools.product(*axes):
        part = found(g, image, taps, places)
        total = part if total is None else g.emit("add", [total, part])
    return [g.transpose(total, [0, rank + 1, *range(1, rank + 1)])]


def found(g, image, taps, places):
    shape = places + image.shape[-1:]
    coordinates = g.concat([g.reshape(index, places + (1,)) for index, _, _ in taps], len(places))
    value = g.emit("gather_nd", [image, coordinates], shape=shape, batch=1)
    wide = lambda v: g.broadcast(g.reshape(v, places + (1,)), shape)  # noqa: E731
    for _, inside, weight in taps:
        if weight is not None:
            value = g.emit("mul", [value, wide(weight)])
        if inside is not None:
            value = g.select(wide(inside), value, g.like(0, value))
    return value


def affine_grid(t, node):
    g, theta, size = t.graph, t.value(node.inputs[0]), t.static(node.inputs[1]).values()
    dims, align = size[2:], bool(node.attr("align_corners", 0))
    line = lambda i, n: (2 * i / (n - 1) - 1 if align else (2 * i + 1) / n - 1) if n > 1 else 0.0  # noqa: E731
    points = [v for at in itertools.product(*map(range, dims))
              for v in [line(i, n) for i, n in reversed(list(zip(at, dims)))] + [1.0]]
    count, rank = elements(dims), len(dims)
    base = g.materialise(tensor(theta.dtype, (1, count, rank + 1), points))
    base = g.broadcast(base, (theta.shape[0], count, rank + 1))
    y = g.emit("matmul", [base, theta], shape=(theta.shape[0], count, rank), transpose_b=True)
    return [g.reshape(y, (theta.shape[0], *dims, rank))]


# --- blocks that overlap ---

def col2im(t, node):
    """Each element of a block is added to its pixel; those that lie in the padding are left out."""
    g, x = t.graph, t.value(node.inputs[0])
    image, block = t.static(node.inputs[1]).values(), t.static(node.inputs[2]).values()
    rank = len(image)
    strides, dilations = node.attr("strides") or [1] * rank, node.attr("dilations") or [1] * rank
    pads = node.attr("pads") or [0] * 2 * rank
    counts = [(image[d] + pads[d] + pads[d + rank] - dilations[d] * (block[d] - 1) - 1) // strides[d] + 1
              for d in range(rank)]
    places = []
    for k in itertools.product(*map(range, block)):
        for l in itertools.product(*map(range, counts)):
            at = [l[d] * strides[d] + k[d] * dilations[d] - pads[d] for d in range(rank)]
            inside = all(0 <= a < n for a, n in zip(at, image))
            places.append(sum(a * math.prod(image[d + 1:]) for d, a in enumerate(at)) if inside else -1)
    rows = x.shape[0] * x.shape[1] // elements(block)
    updates = g.transpose(g.reshape(x, (rows, len(places))), [1, 0])
    zeros = g.constant(0, x.dtype, (elements(image), rows))
    y = g.emit("scatter", [zeros, g.materialise(tensor("i64", (len(places),), places)), updates])
    return [g.reshape(g.transpose(y, [1, 0]), (x.shape[0], rows // x.shape[0], *image))]


# --- pairs that turn by an angle of their place ---

def rotary_embedding(t, node):
    g, x, caches = t.graph, t.value(node.inputs[0]), [t.value(n) for n in node.inputs[1:3]]
    whole = x.shape
    if len(whole) == 3:
        heads = node.attr("num_heads")
        x = g.transpose(g.reshape(x, (whole[0], whole[1], heads, whole[2] // heads)), [0, 2, 1, 3])
    batch, heads, length, width = x.shape
    turned = node.attr("rotary_embedding_dim", 0) or width
    if t.optional(node, 3):
        ids = t.value(node.inputs[3])
        caches = [g.emit("gather", [c, ids], shape=ids.shape + c.shape[1:], axis=0) for c in caches]
    pairs = (batch, heads, length, turned // 2)
    cos, sin = (g.broadcast(g.reshape(part(g, c, 0, pairs[3]), (batch, 1, length, pairs[3])), pairs) for c in caches)
    head = part(g, x, 0, turned)
    if node.attr("interleaved", 0):
        both = g.reshape(head, pairs + (2,))
        a, b = (g.reshape(part(g, both, i, i + 1), pairs) for i in range(2))
    else:
        a, b = part(g, head, 0, pairs[3]), part(g, head, pairs[3], turned)
    mul = lambda u, v: g.emit("mul", [u, v])  # noqa: E731
    real, imaginary = g.emit("sub", [mul(cos, a), mul(sin, b)]), g.emit("add", [mul(sin, a), mul(cos, b)])
    if node.attr("interleaved", 0):
        y = g.reshape(g.concat([g.reshape(v, pairs + (1,)) for v in (real, imaginary)], 4), head.shape)
    else:
        y = g.concat([real, imaginary], 3)
    y = g.concat([y, part(g, x, turned, width)], 3) if turned < width else y
    return [g.reshape(g.transpose(y, [0, 2, 1, 3]), whole) if len(whole) == 3 else y]


def part(g, v, start, stop):
    """[start, stop) of the last axis."""
    rank = len(v.shape)
    return g.slice(v, [0] * (rank - 1) + [start], list(v.shape[:-1]) + [stop], [1] * rank)


HANDLERS = {
    "GridSample": grid_sample, "AffineGrid": affine_grid, "Col2Im": col2im, "RotaryEmbedding": rotary_embedding,
}
