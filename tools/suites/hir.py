"""Writes graphs of IR text. The text carries types, so each method here knows its result's shape; the parser checks it."""
from dataclasses import dataclass

from .tensor import FLOATING, OutOfScope, elements, tensor


@dataclass(frozen=True)
class Value:
    name: str
    dtype: str
    shape: tuple

    @property
    def type(self):
        return "%s[%s]" % (self.dtype, ",".join(map(str, self.shape)))


def attribute(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(map(str, value))
    return repr(value)


def broadcast_shape(*shapes):
    rank = max(map(len, shapes))
    result = []
    for dims in zip(*[(1,) * (rank - len(s)) + tuple(s) for s in shapes]):
        wide = {d for d in dims if d != 1}
        if len(wide) > 1:
            raise ValueError("shapes %s do not broadcast" % (shapes,))
        result.append(wide.pop() if wide else 1)
    return tuple(result)


class Graph:
    """One graph under construction: `inputs` holds the tensors it is evaluated on."""

    def __init__(self, name):
        self.name, self.inputs, self.parameters, self.lines, self.ops = name, {}, [], [], set()
        self.bodies = []  # text, each behind what it scans

    def input(self, t):
        if elements(t.shape) == 0:
            raise OutOfScope("empty tensor")
        value = Value("in%d" % len(self.parameters), t.dtype, tuple(t.shape))
        self.parameters.append(value)
        self.inputs["%s/%s" % (self.name, value.name)] = t
        return value

    def multi(self, op, operands, types, **attrs):
        results = [Value("v%d.%d" % (len(self.lines), i), dtype, tuple(shape)) for i, (dtype, shape) in enumerate(types)]
        if any(elements(v.shape) == 0 for v in [*results, *operands]):
            raise OutOfScope("empty tensor")
        text = ", ".join("%s = %s" % (k, attribute(v)) for k, v in sorted(attrs.items()))
        self.lines.append("  %s = %s(%s)%s" % (", ".join("%%%s: %s" % (r.name, r.type) for r in results), op,
                                               ", ".join("%" + v.name for v in operands), " {%s}" % text if text else ""))
        self.ops.add(op)
        return results

    def emit(self, op, operands, dtype=None, shape=None, **attrs):
        dtype = operands[0].dtype if dtype is None else dtype
        return self.multi(op, operands, [(dtype, operands[0].shape if shape is None else shape)], **attrs)[0]

    def text(self, outputs):
        if any(elements(v.shape) == 0 for v in outputs):
            raise OutOfScope("empty tensor")
        inputs = ", ".join("input %%%s: %s" % (v.name, v.type) for v in self.parameters)
        return "%sgraph @%s(%s) {\n%s\n  return %s\n}\n" % ("".join(self.bodies), self.name, inputs, "\n".join(self.lines),
                                                           ", ".join("%" + v.name for v in outputs))

    # --- constants ---

    def constant(self, number, dtype, shape=()):
        if dtype not in FLOATING and abs(int(number)) > 2 ** 53:
            return self.broadcast(self.input(tensor(dtype, (), [number])), shape)
        return self.multi("constant", [], [(dtype, shape)], value=float(number), shape=list(shape), dtype=dtype)[0]

    def like(self, number, v):
        return self.constant(number, v.dtype, v.shape)

    def materialise(self, t):
        """A tensor known beforehand: one number repeated, or an input of the graph."""
        if elements(t.shape) == 0:
            raise OutOfScope("empty tensor")
        values = t.values()
        if values.count(values[0]) == len(values) and values[0] == values[0]:
            return self.constant(values[0], t.dtype, t.shape)
        return self.input(t)

    # --- movement ---

    def broadcast(self, v, shape):
        shape = tuple(shape)
        if v.shape == shape:
            return v
        dims = list(range(len(shape) - len(v.shape), len(shape)))
        return self.multi("broadcast", [v], [(v.dtype, shape)], shape=list(shape), dims=dims)[0]

    def reshape(self, v, shape):
        shape = tuple(shape)
        if v.shape == shape:
            return v
        if elements(shape) != elements(v.shape):
            raise ValueError("%s does not reshape to %s" % (v.type, shape))
        return self.multi("reshape", [v], [(v.dtype, shape)], shape=list(shape))[0]

    def transpose(self, v, perm):
        return self.multi("transpose", [v], [(v.dtype, [v.shape[p] for p in perm])], perm=list(perm))[0]

    def slice(self, v, starts, limits, strides):
        shape = [max(0, -(-(b - a) // s)) for a, b, s in zip(starts, limits, strides)]
        if 0 in shape:
            return Value("nothing", v.dtype, tuple(shape))  # which a concatenation leaves out
        return self.multi("slice", [v], [(v.dtype, shape)], starts=list(starts), limits=list(limits), strides=list(strides))[0]

    def pad(self, v, low, high, interior=None, fill=0.0):
        interior = interior or [0] * len(v.shape)
        shape = [l + h + n + max(n - 1, 0) * i for l, h, i, n in zip(low, high, interior, v.shape)]
        return self.multi("pad", [v], [(v.dtype, shape)], low=list(low), high=list(high), interior=list(interior),
                          fill=float(fill))[0]

    def concat(self, values, axis):
        values = [v for v in values if elements(v.shape) > 0] or values
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        return self.multi("concat", values, [(values[0].dtype, shape)], axis=axis)[0]

    def reverse(self, v, axes):
        return self.emit("reverse", [v], axes=list(axes)) if axes else v

    # --- arithmetic ---

    def cast(self, v, dtype):
        return v if v.dtype == dtype else self.multi("cast", [v], [(dtype, v.shape)], dtype=dtype)[0]

    def binary(self, op, a, b, dtype=None):
        shape = broadcast_shape(a.shape, b.shape)
        return self.emit(op, [self.broadcast(a, shape), self.broadcast(b, shape)], dtype=dtype)

    def scaled(self, v, factor):
        return v if factor == 1 else self.emit("mul", [v, self.like(factor, v)])

    def select(self, condition, a, b):
        shape = broadcast_shape(condition.shape, a.shape, b.shape)
        return self.emit("select", [self.broadcast(v, shape) for v in (condition, a, b)], dtype=a.dtype)

    def reduce(self, op, v, axes, keepdims=False):
        """`axes` lists non-negative axes; none at all reduces nothing."""
        if not axes:
            return v
        kept = [d for i, d in enumerate(v.shape) if i not in axes]
        y = self.multi(op, [v], [(v.dtype, kept)], axes=sorted(axes))[0]
        return self.reshape(y, [1 if i in axes else d for i, d in enumerate(v.shape)]) if keepdims else y

    def iota(self, shape, axis, dtype="i32"):
        return self.multi("iota", [], [(dtype, shape)], shape=list(shape), axis=axis, dtype=dtype)[0]


class Body(Graph):
    """One turn of a scan in a graph, or in a body. Its inputs have roles; what is known beforehand is an input of the graph."""

    def __init__(self, around):
        super().__init__("%s.b%d" % (around.name, len(around.bodies)))
        self.around, self.roles, self.operands, self.found = around, [], [], {}

    def add(self, role, dtype, shape, operand=None):
        value = Value("in%d" % len(self.parameters), dtype, tuple(shape))
        self.parameters.append(value)
        self.roles.append(role)
        if operand is not None:
            self.operands.append(operand)
        return value

    def fixed(self, v):
        """A value of the graph around, in the body."""
        if v.name not in self.found:
            self.found[v.name] = self.add("fixed", v.dtype, v.shape, v)
        return self.found[v.name]

    def input(self, t):
        return self.fixed(self.around.input(t))

    def scan(self, count, nexts, stacked, reverse=False):
        """Ends the body, whose carries become `nexts`, and runs it: the last carries, then what is stacked along a new first axis."""
        inputs = ", ".join("%s %%%s: %s" % (r, v.name, v.type) for r, v in zip(self.roles, self.parameters))
        updates = "".join("  update %%%s <- %%%s\n" % (c.name, n.name) for c, n in nexts.items())
        self.around.bodies += self.bodies
        self.around.bodies.append("body @%s(%s) {\n%s\n%s  return %s\n}\n" % (
            self.name, inputs, "\n".join(self.lines), updates, ", ".join("%" + v.name for v in stacked)))
        self.around.ops |= self.ops
        types = [(v.dtype, v.shape) for r, v in zip(self.roles, self.parameters) if r == "carry"]
        types += [(v.dtype, (count,) + v.shape) for v in stacked]
        return self.around.multi("scan @" + self.name, self.operands, types, count=count, **({"reverse": True} if reverse else {}))
