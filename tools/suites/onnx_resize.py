"""ONNX Resize and Upsample: each axis by Heddle's resize, by a lookup of nearest elements, or, with antialiasing, by a product."""
import math
from fractions import Fraction

from .tensor import OutOfScope, tensor


class Places:
    """Where result o of an axis lies among its elements: step o + offset, exactly."""

    def __init__(self, mode, size, out, scale, roi):
        if mode in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"):
            self.step, self.offset = 1 / scale, Fraction(1, 2) / scale - Fraction(1, 2)
            if mode == "half_pixel_symmetric":
                self.offset += Fraction(size, 2) * (1 - out / (scale * size))
            if mode == "pytorch_half_pixel" and out == 1:
                self.step, self.offset = Fraction(0), Fraction(0)
        elif mode == "asymmetric":
            self.step, self.offset = 1 / scale, Fraction(0)
        elif mode == "align_corners":
            self.step, self.offset = (size - 1) / (scale * size - 1) if scale * size > 1 else Fraction(0), Fraction(0)
        elif mode == "tf_crop_and_resize":
            start, end = roi
            self.step = (end - start) * (size - 1) / (out - 1) if out > 1 else Fraction(0)
            self.offset = start * (size - 1) if out > 1 else (start + end) * (size - 1) / 2
        else:
            raise OutOfScope("Resize with coordinates " + mode)

    def at(self, o):
        return self.step * o + self.offset


def exact(number):
    return Fraction(number).limit_denominator(10000)


def sizes(t, node, x, axes):
    """Of each axis: its new size and its scale."""
    scales = t.optional(node, 2 if len(node.inputs) > 2 else 1)
    if len(node.inputs) > 3 and t.optional(node, 3):
        out = t.static(node.inputs[3]).values()
        ratios = [Fraction(o, x.shape[a]) for o, a in zip(out, axes)]
        policy = node.attr("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            ratio = (min if policy == "not_larger" else max)(ratios)
            ratios = [ratio] * len(axes)
            out = [math.floor(ratio * x.shape[a] + Fraction(1, 2)) for a in axes]
        return list(zip(out, ratios))
    ratios = [exact(v) for v in t.static(scales).values()]
    return [(math.floor(r * x.shape[a]), r) for r, a in zip(ratios, axes)]


def nearest(g, x, axis, out, places, rounding):
    rules = {"round_prefer_floor": lambda p: math.ceil(p - Fraction(1, 2)), "floor": math.floor, "ceil": math.ceil,
             "round_prefer_ceil": lambda p: math.floor(p + Fraction(1, 2))}
    index = [min(max(rules[rounding](places.at(o)), 0), x.shape[axis] - 1) for o in range(out)]
    shape = x.shape[:axis] + (out,) + x.shape[axis + 1:]
    return g.emit("gather", [x, g.input(tensor("i64", (out,), index))], shape=shape, axis=axis)


def interpolated(g, x, axis, out, places, cubic):
    size, scale = x.shape[axis], math.lcm(places.step.denominator, places.offset.denominator)
    if places.offset <= -1 or places.at(out - 1) >= size:
        raise OutOfScope("Resize to places outside of the image")
    shape = x.shape[:axis] + (out,) + x.shape[axis + 1:]
    return g.emit("resize", [x], shape=shape, axis=axis, input=size, size=out, step=int(places.step * scale),
                  offset=int(places.offset * scale), scale=scale, cubic=cubic)


def weight(d, cubic):
    d, a = abs(d), Fraction(-3, 4)
    if not cubic:
        return max(1 - d, 0)
    return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1 if d <= 1 else a * (d ** 3 - 5 * d ** 2 + 8 * d - 4) if d < 2 else 0


def smoothed(g, x, axis, out, places, scale, cubic):
    """Shrunk by weights that reach as far as the results lie apart; beyond the ends the last element is repeated."""
    size, reach = x.shape[axis], (2 if cubic else 1) / min(scale, Fraction(1))
    matrix = [0.0] * (out * size)
    for o in range(out):
        p = places.at(o)
        taps = [(i, weight((p - i) * min(scale, 1), cubic)) for i in range(math.floor(p - reach), math.ceil(p + reach) + 1)]
        total = sum(w for _, w in taps)
        for i, w in taps:
            matrix[o * size + min(max(i, 0), size - 1)] += float(w / total)
    order = [a for a in range(len(x.shape)) if a != axis] + [axis]
    rows = g.transpose(x, order)
    flat = g.reshape(rows, (math.prod(rows.shape[:-1]), size))
    y = g.emit("matmul", [flat, g.input(tensor(x.dtype, (out, size), matrix))], shape=(flat.shape[0], out), transpose_b=True)
    return g.transpose(g.reshape(y, rows.shape[:-1] + (out,)), [order.index(a) for a in range(len(order))])


def resize(t, node):
    g, x, mode = t.graph, t.value(node.inputs[0]), node.attr("mode", "nearest")
    axes = [a % len(x.shape) for a in node.attr("axes") or range(len(x.shape))]
    coordinates = node.attr("coordinate_transformation_mode", "half_pixel" if node.op == "Resize" else "asymmetric")
    if node.attr("exclude_outside", 0) or (mode == "cubic" and node.attr("cubic_coeff_a", -0.75) != -0.75):
        raise OutOfScope("Resize with weights of its own")
    roi = [exact(v) for v in t.static(node.inputs[1]).values()] if coordinates == "tf_crop_and_resize" else [None] * 2 * len(axes)
    for i, (axis, (out, scale)) in enumerate(zip(axes, sizes(t, node, x, axes))):
        places = Places(coordinates, x.shape[axis], out, scale, (roi[i], roi[i + len(axes)]))
        if out == x.shape[axis] and places.step == 1 and places.offset == 0:
            continue
        if mode == "nearest":
            x = nearest(g, x, axis, out, places, node.attr("nearest_mode", "round_prefer_floor" if node.op == "Resize" else "floor"))
        elif node.attr("antialias", 0) and scale < 1:
            x = smoothed(g, x, axis, out, places, scale, mode == "cubic")
        else:
            x = interpolated(g, x, axis, out, places, mode == "cubic")
    return [x]


HANDLERS = {"Resize": resize, "Upsample": resize}
