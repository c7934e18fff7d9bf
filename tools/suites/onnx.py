"""ONNX backend cases (https://github.com/onnx/onnx, Apache-2.0) as IR text."""
from . import (onnx_attention, onnx_elementwise, onnx_index, onnx_loops, onnx_movement, onnx_nn, onnx_norm, onnx_products,
               onnx_reduce, onnx_resize, onnx_sample, onnx_static)
from .hir import Graph
from .tensor import DTYPES, OutOfScope, Tolerance, from_case

NAMES = {dtype: dtype for dtype in DTYPES}
# ONNX's numbers of element types.
ELEMENT_TYPES = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16", 11: "f64",
                 12: "u32", 13: "u64", 16: "bf16"}
HANDLERS = {**onnx_elementwise.HANDLERS, **onnx_movement.HANDLERS, **onnx_reduce.HANDLERS, **onnx_nn.HANDLERS,
            **onnx_index.HANDLERS, **onnx_norm.HANDLERS, **onnx_sample.HANDLERS, **onnx_products.HANDLERS,
            **onnx_resize.HANDLERS, **onnx_loops.HANDLERS, **onnx_attention.HANDLERS}
# Their results are sums of products: one element near zero says little, the error over all of them does.
SUMS = {"matmul", "conv2d", "conv2d_data_grad", "layer_norm", "normalize", "attention"}


class Node:
    """A node of the ONNX graph with decoded attributes."""

    def __init__(self, entry):
        self.op, self.inputs, self.outputs = entry["op"], entry["in"], entry["out"]
        if entry["domain"] not in ("", "ai.onnx", "ai.onnx.ml"):
            raise OutOfScope("operator %s of domain %s" % (entry["op"], entry["domain"]))
        self.entry = entry

    def attr(self, name, default=None):
        a = self.entry["attrs"].get(name)
        if a is None:
            return default
        for key in ("i", "f", "s", "ints", "floats"):
            if key in a:
                return list(a[key]) if isinstance(a[key], list) else a[key]
        if "t" in a:
            return from_case(a["t"], NAMES)
        raise OutOfScope("attribute with a graph or text")


class Translator:
    """Values are made on demand: the IR for what outputs need, Python numbers for what shapes need."""

    def __init__(self, name, case, data):
        self.graph, self.opset = Graph(name), case["opset"].get("", 1)
        self.given = {t["name"]: t for t in case["graph"]["initializers"]}
        names = [i["name"] for i in case["graph"]["inputs"] if i["name"] not in self.given]
        self.given.update(zip(names, data["inputs"]))  # by position: in old cases the data has no names
        self.nodes = {out: node for node in map(Node, case["graph"]["nodes"]) for out in node.outputs if out}
        self.values, self.known, self.around = {}, {}, None  # around: of a graph inside of a node, the graph that it is in

    def value(self, name):
        """The IR value of an ONNX name."""
        if name not in self.values:
            if name not in self.given and name not in self.nodes and self.around:
                outer = self.around.value(name)
                self.values[name] = outer if self.graph is self.around.graph else self.graph.fixed(outer)
            elif name in self.given:
                self.values[name] = self.graph.input(from_case(self.given[name], NAMES))
            else:
                self.translate(self.nodes[name])
        return self.values[name]

    def translate(self, node):
        if node.op in onnx_static.HANDLERS and node.op not in HANDLERS:
            self.values[node.outputs[0]] = self.graph.materialise(self.static(node.outputs[0]))
            return
        if node.op not in HANDLERS:
            raise OutOfScope("operator " + node.op)
        results = HANDLERS[node.op](self, node)
        for name, value in zip(node.outputs, results):
            self.values[name] = value
        for name in node.outputs[len(results):]:
            if name:
                raise OutOfScope("%s with %d results" % (node.op, len(node.outputs)))

    def static(self, name):
        """The tensor of a name that is known before the graph runs; a case's own inputs are, where a shape depends on them."""
        if name in self.given:
            return from_case(self.given[name], NAMES)
        if name not in self.nodes and self.around:
            return self.around.static(name)
        if name not in self.known:
            node = self.nodes[name]
            if node.op not in onnx_static.HANDLERS:
                raise OutOfScope("a shape computed by " + node.op)
            made = onnx_static.HANDLERS[node.op](self, node)
            if isinstance(made, dict):
                made = made[name]()
            self.known.update(zip(node.outputs, made) if isinstance(made, list) else [(name, made)])
        return self.known[name]

    def operands(self, node):
        return [self.value(name) for name in node.inputs]

    def optional(self, node, i):
        return node.inputs[i] if i < len(node.inputs) and node.inputs[i] else None

    def integers(self, node, i, attr=None, default=None):
        """A list of integers that is operand i, or in older versions an attribute."""
        name = self.optional(node, i)
        if name is not None:
            return self.static(name).values()
        return node.attr(attr, default) if attr else default


def element_type(number):
    if number not in ELEMENT_TYPES:
        raise OutOfScope("element type %d" % number)
    return ELEMENT_TYPES[number]


def cases(line):
    """Yields (name, function that builds (graph, outputs, expected tensors), tolerance function)."""
    for i, data in enumerate(line["sets"]):
        name = line["name"] if len(line["sets"]) == 1 else "%s.%d" % (line["name"], i)

        def build(graph_name, data=data):
            t = Translator(graph_name, line, data)
            expected = [from_case(o, NAMES) for o in data["outputs"]]
            outputs = [t.value(o["name"]) for o in line["graph"]["outputs"]]
            if not t.graph.ops - {"constant"} and not any(n in HANDLERS for n in [x.op for x in t.nodes.values()]):
                raise OutOfScope("known before the graph runs")
            return t.graph, outputs, expected

        yield name, build


def tolerance(graph):
    return Tolerance(nmse=1e-7) if graph.ops & SUMS else Tolerance()
