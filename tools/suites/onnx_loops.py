"""ONNX operators that carry values from step to step, as scans of bodies: Scan, Loop with a known count, RNN, GRU, LSTM, and the
recurrence of LinearAttention; If with a known condition."""
import math

from .hir import Body
from .tensor import OutOfScope

ACTIVATIONS = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu", "Softsign": "softsign", "Softplus": "softplus"}


# --- bodies that ONNX writes itself ---

def translator_inside(outer, graph, body, given):
    """Of a graph inside of a node: what it does not compute is a fixed input of the body, known where the outer graph knows it."""
    from .onnx import Node, Translator
    t = Translator.__new__(Translator)
    t.graph, t.opset, t.around = body, outer.opset, outer
    t.given = {i["name"]: i for i in graph["initializers"]}
    t.nodes = {out: node for node in map(Node, graph["nodes"]) for out in node.outputs if out}
    t.values, t.known = dict(given), {}
    return t


def body_of(node):
    return node.entry["attrs"]["body"]["g"]


def row(g, v):
    return v.dtype, v.shape[1:]


def moved_to_front(g, v, axis):
    axis %= len(v.shape)
    return g.transpose(v, [axis] + [d for d in range(len(v.shape)) if d != axis]) if axis else v


def moved_from_front(g, v, axis):
    axis %= len(v.shape)
    others = list(range(1, len(v.shape)))
    return g.transpose(v, others[:axis] + [0] + others[axis:]) if axis else v


def scan(t, node):
    if t.opset < 9:
        raise OutOfScope("Scan with a batch")
    g, inner, sliced = t.graph, body_of(node), node.attr("num_scan_inputs")
    operands, carried = t.operands(node), len(node.inputs) - sliced
    stacked = len(inner["outputs"]) - carried
    each = lambda name, count: node.attr(name, [0] * count)
    axes, backward = each("scan_input_axes", sliced), each("scan_input_directions", sliced)
    sequences = [moved_to_front(g, v, a) for v, a in zip(operands[carried:], axes)]
    sequences = [g.reverse(v, [0]) if b else v for v, b in zip(sequences, backward)]
    body = Body(g)
    carries = [body.add("carry", v.dtype, v.shape, v) for v in operands[:carried]]
    rows = [body.add("slice", *row(g, v), v) for v in sequences]
    names = [i["name"] for i in inner["inputs"]]
    results = translator_inside(t, inner, body, zip(names, carries + rows))
    values = [results.value(o["name"]) for o in inner["outputs"]]
    made = body.scan(sequences[0].shape[0], dict(zip(carries, values)), values[carried:])
    lasts, stacks = made[:carried], made[carried:]
    stacks = [g.reverse(v, [0]) if b else v for v, b in zip(stacks, each("scan_output_directions", stacked))]
    return lasts + [moved_from_front(g, v, a) for v, a in zip(stacks, each("scan_output_axes", stacked))]


def loop(t, node):
    """Where the number of turns is known and the condition passes through."""
    g, inner = t.graph, body_of(node)
    count = t.optional(node, 0)
    if count is None:
        raise OutOfScope("Loop without a count")
    count = int(t.static(count).values()[0])
    nodes = {out: n for n in inner["nodes"] for out in n["out"]}
    condition = inner["outputs"][0]["name"]
    while condition in nodes and nodes[condition]["op"] == "Identity":
        condition = nodes[condition]["in"][0]
    if condition != inner["inputs"][1]["name"] or count < 1:
        raise OutOfScope("Loop with a condition of its own")
    if t.optional(node, 1) and not t.static(node.inputs[1]).values()[0]:
        raise OutOfScope("Loop that does not begin")
    body = Body(g)
    carries = [body.add("carry", v.dtype, v.shape, v) for v in map(t.value, node.inputs[2:])]
    turn = body.add("index", "i64", ())
    names = [i["name"] for i in inner["inputs"]]
    results = translator_inside(t, inner, body, zip(names, [turn, None] + carries))
    values = [results.value(o["name"]) for o in inner["outputs"][1:]]
    return body.scan(count, dict(zip(carries, values)), values[len(carries):])


def taken_branch(t, node):
    """The graph that a condition known beforehand takes, as a translator, and the names of its results."""
    inner = node.entry["attrs"]["then_branch" if t.static(node.inputs[0]).values()[0] else "else_branch"]["g"]
    return translator_inside(t, inner, t.graph, {}), [o["name"] for o in inner["outputs"]]


def branch(t, node):
    inner, names = taken_branch(t, node)
    return [inner.value(name) for name in names]


# --- recurrent layers ---

class Layer:
    """What RNN, GRU and LSTM have in common: weights of each direction, lengths, the order of axes."""

    def __init__(self, t, node, gates):
        self.t, self.node, self.g, self.gates = t, node, t.graph, gates
        if node.attr("clip") is not None:
            raise OutOfScope("%s with a clip" % node.op)
        self.batch_first = bool(node.attr("layout", 0))
        x = t.value(node.inputs[0])
        self.x = self.g.transpose(x, [1, 0, 2]) if self.batch_first else x
        self.steps, self.rows, self.features = self.x.shape
        self.w, self.r = t.value(node.inputs[1]), t.value(node.inputs[2])
        self.units, self.directions = self.r.shape[-1], self.w.shape[0]
        name = t.optional(node, 3)
        self.b = t.value(name) if name else None
        name = t.optional(node, 4)
        self.lengths = self.g.cast(t.value(name), "i64") if name else None

    def part(self, v, direction, begin=0, count=None):
        """Rows begin ... begin + count of a direction's weights, in units."""
        count = v.shape[1] // self.units - begin if count is None else count
        starts, limits = [direction] + [0] * (len(v.shape) - 1), [direction + 1] + list(v.shape[1:])
        starts[1], limits[1] = begin * self.units, (begin + count) * self.units
        v = self.g.slice(v, starts, limits, [1] * len(starts))
        return self.g.reshape(v, v.shape[1:])

    def bias(self, direction, begin, count):
        return self.part(self.b, direction, begin, count) if self.b else None

    def start(self, i, direction):
        name = self.t.optional(self.node, i)
        if not name:
            return self.g.constant(0, self.x.dtype, (self.rows, self.units))
        v = self.t.value(name)
        v = self.g.transpose(v, [1, 0, 2]) if self.batch_first else v
        v = self.g.slice(v, [direction, 0, 0], [direction + 1, self.rows, self.units], [1, 1, 1])
        return self.g.reshape(v, v.shape[1:])

    def activations(self, direction, fallback):
        names = self.node.attr("activations", fallback * self.directions)
        found = names[direction * len(fallback):(direction + 1) * len(fallback)]
        if any(n not in ACTIVATIONS for n in found) or self.node.attr("activation_alpha") is not None:
            raise OutOfScope("%s with the activation %s" % (self.node.op, found))
        return [ACTIVATIONS[n] for n in found]

    def is_backward(self, direction):
        return direction == 1 or self.node.attr("direction", "forward") == "reverse"

    def products(self, direction):
        """x W^T and the bias of the inputs, of all steps."""
        g, w = self.g, self.part(self.w, direction)
        flat = g.reshape(self.x, (self.steps * self.rows, self.features))
        y = g.emit("matmul", [flat, w], shape=(flat.shape[0], w.shape[0]), transpose_b=True)
        if self.b:
            y = g.binary("add", y, self.bias(direction, 0, self.gates))
        return g.reshape(y, (self.steps, self.rows, w.shape[0]))

    def run(self, states, cell):
        """cell(body, direction, row of the products, states) -> next states; the first of them is what a step gives."""
        g, sequences, lasts = self.g, [], []
        for d in range(self.directions):
            body, x = Body(g), self.products(d)
            starts = [self.start(i, d) for i in states]
            carries = [body.add("carry", v.dtype, v.shape, v) for v in starts]
            now = body.add("slice", x.dtype, x.shape[1:], x)
            nexts = cell(body, d, now, carries)
            shown = nexts[0]
            if self.lengths:
                turn, lengths = body.add("index", "i64", ()), body.fixed(self.lengths)
                runs = body.emit("lt", [body.broadcast(turn, lengths.shape), lengths], dtype="bool")
                runs = body.multi("broadcast", [runs], [("bool", shown.shape)], shape=list(shown.shape), dims=[0])[0]
                nexts = [body.select(runs, n, c) for n, c in zip(nexts, carries)]
                shown = body.select(runs, shown, body.like(0, shown))
            made = body.scan(self.steps, dict(zip(carries, nexts)), [shown], self.is_backward(d))
            lasts.append(made[:len(states)])
            sequences.append(made[-1])
        return [self.sequence(sequences)] + [self.last([l[i] for l in lasts]) for i in range(len(states))]

    def sequence(self, parts):
        g = self.g
        y = g.concat([g.reshape(p, (self.steps, 1, self.rows, self.units)) for p in parts], 1)
        return g.transpose(y, [2, 0, 1, 3]) if self.batch_first else y

    def last(self, parts):
        g = self.g
        y = g.concat([g.reshape(p, (1, self.rows, self.units)) for p in parts], 0)
        return g.transpose(y, [1, 0, 2]) if self.batch_first else y


def columns(g, v, begin, count, units):
    return g.slice(v, [0, begin * units], [v.shape[0], (begin + count) * units], [1, 1])


def by_state(body, h, r, bias):
    y = body.emit("matmul", [h, body.fixed(r)], shape=(h.shape[0], r.shape[0]), transpose_b=True)
    return body.binary("add", y, body.fixed(bias)) if bias else y


def rnn(t, node):
    layer = Layer(t, node, 1)

    def cell(body, d, x, states):
        f, = layer.activations(d, ["Tanh"])
        return [body.emit(f, [body.emit("add", [x, by_state(body, states[0], layer.part(layer.r, d), layer.bias(d, 1, 1))])])]

    return layer.run([5], cell)


def gru(t, node):
    layer, after = Layer(t, node, 3), bool(node.attr("linear_before_reset", 0))

    def cell(body, d, x, states):
        (h,), n = states, layer.units
        f, act = layer.activations(d, ["Sigmoid", "Tanh"])
        gates = body.emit(f, [body.emit("add", [columns(body, x, 0, 2, n), by_state(
            body, h, layer.part(layer.r, d, 0, 2), layer.bias(d, 3, 2))])])
        z, reset = columns(body, gates, 0, 1, n), columns(body, gates, 1, 1, n)
        r, bias = layer.part(layer.r, d, 2, 1), layer.bias(d, 5, 1)
        of_state = (body.emit("mul", [reset, by_state(body, h, r, bias)]) if after
                    else by_state(body, body.emit("mul", [reset, h]), r, bias))
        new = body.emit(act, [body.emit("add", [columns(body, x, 2, 1, n), of_state])])
        kept = body.emit("mul", [z, body.emit("sub", [h, new])])
        return [body.emit("add", [new, kept])]

    return layer.run([5], cell)


def lstm(t, node):
    layer = Layer(t, node, 4)
    if node.attr("input_forget", 0):
        raise OutOfScope("LSTM with coupled gates")
    name = t.optional(node, 7)
    peepholes = t.value(name) if name else None

    def cell(body, d, x, states):
        (h, c), n = states, layer.units
        f, act, out = layer.activations(d, ["Sigmoid", "Tanh", "Tanh"])
        gates = body.emit("add", [x, by_state(body, h, layer.part(layer.r, d), layer.bias(d, 4, 4))])

        def gate(i, cell_state):
            v = columns(body, gates, i, 1, n)
            if peepholes:
                v = body.emit("add", [v, body.binary("mul", cell_state, body.fixed(layer.part(peepholes, d, i, 1)))])
            return body.emit(f, [v])

        i, forget = gate(0, c), body.emit(f, [peeped(body, gates, 2, c, d)])
        new = body.emit(act, [columns(body, gates, 3, 1, n)])
        c_next = body.emit("add", [body.emit("mul", [forget, c]), body.emit("mul", [i, new])])
        o = gate(1, c_next)
        return [body.emit("mul", [o, body.emit(out, [c_next])]), c_next]

    def peeped(body, gates, i, c, d):
        v = columns(body, gates, i, 1, layer.units)
        if not peepholes:
            return v
        return body.emit("add", [v, body.binary("mul", c, body.fixed(layer.part(peepholes, d, i, 1)))])

    return layer.run([5, 6], cell)


# --- linear attention ---

def linear_attention(t, node):
    """Of each head a matrix, key by value, that decays and takes in a key and a value in each step (ONNX's function body)."""
    g = t.graph
    rule = node.attr("update_rule", "gated_delta")
    query, key, value = (t.value(n) for n in node.inputs[:3])
    optional = [t.value(n) if n else None for n in (t.optional(node, i) for i in (3, 4, 5))]
    past, decay, beta = optional
    q_heads, kv_heads = node.attr("q_num_heads"), node.attr("kv_num_heads")
    batch, steps = query.shape[:2]
    each = q_heads // kv_heads

    def heads(v, count):  # [N,T,count*d] -> [T,N,count,d], in f32
        v = g.reshape(g.cast(v, "f32"), (batch, steps, count, v.shape[2] // count))
        return g.transpose(v, [1, 0, 2, 3])

    q, k, v = heads(query, q_heads), heads(key, kv_heads), heads(value, kv_heads)
    size = (batch, kv_heads, k.shape[3], v.shape[3])
    scale = node.attr("scale", 0.0) or 1 / math.sqrt(k.shape[3])
    state = g.cast(past, "f32") if past else g.constant(0, "f32", size)
    body = Body(g)
    carry = body.add("carry", "f32", size, state)
    sliced = {name: body.add("slice", *row(g, s), s) for name, s in
              {"q": q, "k": k, "v": v, **({"decay": heads(decay, kv_heads)} if "gated" in rule else {}),
               **({"beta": heads(beta, beta.shape[2])} if "delta" in rule else {})}.items()}

    def along(x, dims):  # of [N,heads,d]: what stands along the axes of the state
        return body.multi("broadcast", [x], [("f32", size)], shape=list(size), dims=dims)[0]

    now = carry
    if "decay" in sliced:
        d = body.emit("exp", [sliced["decay"]])
        d = body.broadcast(d, (batch, kv_heads, size[2])) if d.shape[2] == 1 else d
        now = body.emit("mul", [now, along(d, [0, 1, 2])])
    written = sliced["v"]
    if "beta" in sliced:
        found = body.reduce("reduce_sum", body.emit("mul", [now, along(sliced["k"], [0, 1, 2])]), [2])
        written = body.binary("mul", body.emit("sub", [written, found]), sliced["beta"])
    after = body.emit("add", [now, body.emit("mul", [along(sliced["k"], [0, 1, 2]), along(written, [0, 1, 3])])])
    ask = body.reshape(sliced["q"], (batch, kv_heads, each, size[2]))
    read = body.multi("matmul", [body.reshape(ask, (batch * kv_heads, each, size[2])),
                                 body.reshape(after, (batch * kv_heads,) + size[2:])],
                      [("f32", (batch * kv_heads, each, size[3]))])[0]
    shown = body.cast(body.scaled(body.reshape(read, (batch, q_heads, size[3])), scale), query.dtype)
    last, rows = body.scan(steps, {carry: after}, [shown])
    y = g.reshape(g.transpose(rows, [1, 0, 2, 3]), (batch, steps, q_heads * size[3]))
    return [y, g.cast(last, query.dtype)]


HANDLERS = {"Scan": scan, "Loop": loop, "If": branch, "RNN": rnn, "GRU": gru, "LSTM": lstm, "LinearAttention": linear_attention}
