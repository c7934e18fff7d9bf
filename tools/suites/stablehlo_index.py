"""StableHLO operations on indices: gather, scatter, dynamic slices, sort, top_k, select_and_scatter."""
import re

from .mlir import integers, parse_type
from .stablehlo_ops import window_attributes
from .tensor import OutOfScope, elements

COMBINE = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min"}
COMBINE_BOOLS = {"add": "max", "or": "max", "maximum": "max", "multiply": "min", "and": "min", "minimum": "min"}


def numbers(text, key):
    return integers(text, key) or []


def vector_last(g, indices, axis):
    """Start indices with the axis of the vectors last; where there is none, each is a vector of one."""
    if axis == len(indices.shape):
        return g.reshape(indices, indices.shape + (1,))
    perm = [d for d in range(len(indices.shape)) if d != axis] + [axis]
    return moved(g, indices, perm)


def moved(g, v, perm):
    return v if perm == list(range(len(perm))) else g.transpose(v, perm)


def back(g, v, perm):
    return moved(g, v, [perm.index(d) for d in range(len(perm))])


class Windows:
    """Windows of an operand that begin at index vectors: which axes are looked up, and the coordinates of each element.

    `size` is the window's; axes that it covers and that no index is of are whole, the others are looked up.
    """

    def __init__(self, g, shape, size, starts, index_map, batching):
        self.g, self.shape, self.size, self.starts = g, shape, size, starts
        self.index_map, (self.batch_of_operand, self.batch_of_starts) = index_map, batching
        self.looked_up = [d for d in range(len(shape))
                          if d in index_map or d in self.batch_of_operand or size[d] < shape[d]]
        self.whole = [d for d in range(len(shape)) if d not in self.looked_up]

    def coordinates(self, clamped):
        """i64 [axes of the starts, sizes of the looked-up axes of the window, a coordinate for each of these axes]"""
        g, axes = self.g, self.starts.shape[:-1]
        shape = axes + tuple(self.size[d] for d in self.looked_up)
        parts = []
        for i, d in enumerate(self.looked_up):
            coordinate = g.iota(shape, len(axes) + i, "i64")
            if d in self.index_map:
                start = self.component(self.index_map.index(d))
                if clamped:
                    start = g.emit("clamp", [start], low=0.0, high=float(self.shape[d] - self.size[d]))
                start = g.broadcast(g.reshape(start, axes + (1,) * len(self.looked_up)), shape)
                coordinate = g.emit("add", [coordinate, start])
            elif d in self.batch_of_operand:
                coordinate = g.iota(shape, self.batch_of_starts[self.batch_of_operand.index(d)], "i64")
            parts.append(g.reshape(coordinate, shape + (1,)))
        return g.concat(parts, len(shape)) if len(parts) > 1 else parts[0]

    def component(self, i):
        g, rank = self.g, len(self.starts.shape)
        first, limits = [0] * rank, list(self.starts.shape)
        first[-1], limits[-1] = i, i + 1
        one = self.starts if self.starts.shape[-1] == 1 else g.slice(self.starts, first, limits, [1] * rank)
        return g.cast(g.reshape(one, self.starts.shape[:-1]), "i64")


def vector_axis(text):
    match = re.search(r"index_vector_dim = (\d+)", text)
    return int(match.group(1)) if match else 0


def gather(t, o):
    g, (x, indices) = t.graph, [t.value(n) for n in o.operands]
    offset, collapsed = numbers(o.text, "offset_dims"), numbers(o.text, "collapsed_slice_dims")
    batching = numbers(o.text, "operand_batching_dims"), numbers(o.text, "start_indices_batching_dims")
    size = numbers(o.text, "slice_sizes")
    starts = vector_last(g, indices, vector_axis(o.text))
    windows = Windows(g, x.shape, size, starts, numbers(o.text, "start_index_map"), batching)
    dtype, shape = parse_type(o.types[0])
    if elements(shape) == 0 or elements(x.shape) == 0:
        raise OutOfScope("empty tensor")
    operand = moved(g, x, windows.looked_up + windows.whole)
    coordinates = windows.coordinates(clamped=True) if windows.looked_up else None
    if coordinates is None:
        raise OutOfScope("a gather of everything")
    found = [starts.shape[:-1], [size[d] for d in windows.looked_up], [size[d] for d in windows.whole]]
    y = g.emit("gather_nd", [operand, coordinates], shape=sum(map(tuple, found), ()))
    # Axes of the starts, then the window's in the operand's order; collapsed ones are gone.
    count = len(found[0])
    order = [count + (windows.looked_up + windows.whole).index(d) for d in range(len(size))]
    y = moved(g, y, list(range(count)) + order)
    kept = [d for d in range(len(size)) if d not in collapsed + batching[0]]
    y = g.reshape(y, found[0] + tuple(size[d] for d in kept))
    of_starts = iter(range(count))
    perm = [count + offset.index(d) if d in offset else next(of_starts) for d in range(len(shape))]
    return moved(g, y, perm)


def scatter(t, o):
    g = t.graph
    if len(o.operands) != 3:
        raise OutOfScope("a scatter of several tensors")
    x, indices, updates = [t.value(n) for n in o.operands]
    combine = combination(o.region, x.dtype)
    window_axes, inserted = numbers(o.text, "update_window_dims"), numbers(o.text, "inserted_window_dims")
    batching = numbers(o.text, "input_batching_dims"), numbers(o.text, "scatter_indices_batching_dims")
    kept = [d for d in range(len(x.shape)) if d not in inserted + batching[0]]
    size = [1] * len(x.shape)
    for axis, d in zip(window_axes, kept):
        size[d] = updates.shape[axis]
    starts = vector_last(g, indices, vector_axis(o.text))
    windows = Windows(g, x.shape, size, starts, numbers(o.text, "scatter_dims_to_operand_dims"), batching)
    if not windows.looked_up:
        raise OutOfScope("a scatter to everything")
    order = windows.looked_up + windows.whole
    coordinates = windows.coordinates(clamped=False)
    batch = [d for d in range(len(updates.shape)) if d not in window_axes]
    perm = batch + [window_axes[kept.index(d)] for d in order if d in kept]
    updates = g.reshape(moved(g, updates, perm), coordinates.shape[:-1] + tuple(size[d] for d in windows.whole))
    narrow = x.dtype == "bool"
    operands = [g.cast(v, "u8") if narrow else v for v in (moved(g, x, order), updates)]
    y = g.emit("scatter_nd", [operands[0], coordinates, operands[1]], combine=combine)
    return back(g, g.cast(y, x.dtype), order)


def combination(region, dtype):
    """What a body of two arguments does, as a name of `combine`."""
    lines = [line for line in region if not line.startswith("^")]
    known = COMBINE_BOOLS if dtype == "bool" else COMBINE
    if len(lines) == 1:
        arguments = re.findall(r"(%\w+):", region[0])
        if arguments[-1:] == re.findall(r"%\w+", lines[0])[:1]:
            return "set"
    applied = re.search(r"stablehlo\.(\w+) ", lines[0])
    if len(lines) != 2 or not applied or applied.group(1) not in known:
        raise OutOfScope("a combination of its own")
    return known[applied.group(1)]


# --- slices at computed places ---

def starts_of(g, scalars):
    return g.concat([g.reshape(s, (1,)) for s in scalars], 0) if len(scalars) > 1 else g.reshape(scalars[0], (1,))


def dynamic_slice(t, o):
    g, x, size = t.graph, t.value(o.operands[0]), integers(o.text, "sizes")
    if not size or 0 in size:
        raise OutOfScope("empty tensor")
    starts = starts_of(g, [t.value(n) for n in o.operands[1:]])
    return g.emit("dynamic_slice", [x, starts], shape=tuple(size), sizes=size)


def dynamic_update_slice(t, o):
    g, (x, update) = t.graph, [t.value(n) for n in o.operands[:2]]
    if not x.shape:
        return update
    return g.emit("dynamic_update_slice", [x, update, starts_of(g, [t.value(n) for n in o.operands[2:]])])


# --- order ---

def argsort(g, x, descending):
    """Places and elements along the last axis; booleans are numbers of 8 bits."""
    narrow = g.cast(x, "u8") if x.dtype == "bool" else x
    order, ordered = g.multi("argsort", [narrow], [("i32", x.shape), (narrow.dtype, x.shape)], descending=descending)
    return order, g.cast(ordered, x.dtype)


def sort(t, o):
    g = t.graph
    body = " ".join(o.region)
    compared = re.findall(r"compare\s+(\w+), (%\w+), (%\w+),", body)
    if len(o.operands) != 1 or not compared or compared[-1][0] not in ("LT", "GT"):
        raise OutOfScope("a sort of several tensors or by an order of its own")
    x, axis = t.value(o.operands[0]), int(re.search(r"dimension = (\d+)", o.text).group(1))
    perm = [d for d in range(len(x.shape)) if d != axis] + [axis]
    return back(g, argsort(g, moved(g, x, perm), compared[-1][0] == "GT")[1], perm)


def top_k(t, o):
    g, x, k = t.graph, t.value(o.operands[0]), int(re.search(r"k = (\d+)", o.text).group(1))
    order, ordered = argsort(g, x, True)
    cut = lambda v: g.slice(v, [0] * len(v.shape), list(v.shape[:-1]) + [k], [1] * len(v.shape))  # noqa: E731
    return cut(ordered), cut(order)


# --- windows ---

def select_and_scatter(t, o):
    """Each window's first largest (or smallest) element gets what the source holds; the others keep the start."""
    g, (x, source, start) = t.graph, [t.value(n) for n in o.operands]
    select = re.search(r"compare\s+(GE|LE)", " ".join(o.region))
    scatter_region = " ".join(o.region).rpartition("^bb0")[2]
    applied = re.search(r"stablehlo\.(\w+) ", scatter_region)
    known = COMBINE_BOOLS if x.dtype == "bool" else COMBINE
    if not select or not applied or applied.group(1) not in known:
        raise OutOfScope("select_and_scatter by functions of its own")
    largest, combine = select.group(1) == "GE", known[applied.group(1)]
    narrow = x.dtype == "bool"
    x, source, start = (g.cast(v, "u8") if narrow else v for v in (x, source, start))
    attrs = window_attributes(o.text, len(x.shape))
    if combine == "add":
        y = g.emit("select_and_scatter", [x, source], select="max" if largest else "min", **attrs)
        y = g.binary("add", y, g.broadcast(start, x.shape))
    else:
        place = g.emit("window_argmax" if largest else "window_argmin", [x], "i32", source.shape, **attrs)
        flat = (elements(source.shape),)
        y = g.emit("scatter", [g.broadcast(start, (elements(x.shape),)), g.reshape(place, flat), g.reshape(source, flat)],
                   combine=combine)
        y = g.reshape(y, x.shape)
    return g.cast(y, "bool") if narrow else y


HANDLERS = {
    "gather": gather, "scatter": scatter, "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice,
    "sort": sort, "top_k": top_k, "select_and_scatter": select_and_scatter,
}
