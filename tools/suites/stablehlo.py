"""StableHLO interpreter cases (https://github.com/openxla/stablehlo, Apache-2.0 with LLVM exception) as IR text."""
import re

from . import mlir, stablehlo_index, stablehlo_ops
from .hir import Graph
from .stablehlo_calls import called
from .tensor import OutOfScope, Tolerance, from_case

HANDLERS = {**stablehlo_ops.HANDLERS, **stablehlo_index.HANDLERS}


class Translator:
    def __init__(self, name, line):
        self.graph, self.values, self.known, self.expected = Graph(name), {}, {}, {}
        self.inputs = [from_case(t, mlir.NAMES) for t in line["inputs"]]
        self.results = [from_case(t, mlir.NAMES) for t in line["expected"]]

    def value(self, name):
        if name not in self.values:
            self.values[name] = self.graph.materialise(self.known[name])
        return self.values[name]

    def run(self, operation):
        if operation.op == "call":
            return self.call(operation)
        if operation.op == "constant":
            self.known[operation.results[0]] = mlir.constant(operation.text, operation.types[0])
            return None
        if operation.op not in HANDLERS:
            raise OutOfScope("operator " + operation.op)
        results = HANDLERS[operation.op](self, operation)
        self.values.update(zip(operation.results, results if isinstance(results, tuple) else (results,)))
        return None

    def call(self, operation):
        if "@inputs" in operation.text:
            for name, t in zip(operation.results, self.inputs):
                self.known[name], self.values[name] = t, self.graph.input(t)
        elif "@expected" in operation.text:
            self.expected = dict(zip(operation.results, self.results))
        else:
            self.values[operation.results[0]] = called(self, operation)


def cases(line):
    def build(graph_name):
        t = Translator(graph_name, line)
        for operation in mlir.parse(line["body"]):
            t.run(operation)
        checks = re.findall(r"@check\.expect_\w+\(%([\w#]+), %([\w#]+)\)", line["body"])
        if not checks:
            raise ValueError("nothing is checked")
        t.graph.checks = line["check"]
        return t.graph, [t.value(result) for result, _ in checks], [t.expected[name] for _, name in checks]

    yield line["file"].removesuffix(".mlir"), build


def tolerance(graph):
    """expect_eq asks for equality, expect_close for 3 units in the last place, expect_almost_eq for 1e-4."""
    if graph.checks[0] == "check.expect_eq":
        return Tolerance(relative=0, absolute=0)
    if graph.ops & {"matmul", "conv2d"}:  # elements near zero
        return Tolerance(nmse=1e-7)
    if graph.checks[0] == "check.expect_almost_eq":
        return Tolerance(relative=1e-4, absolute=1e-4)
    if "window_sum" in graph.ops:  # exact in the oracle, and its terms may cancel
        return Tolerance(relative=0, absolute=0, units=3, nmse=1e-12)
    if graph.ops & {"scatter", "select_and_scatter"}:  # updates of one element are added exactly by the oracle, and rounded one by one elsewhere
        return Tolerance(relative=1e-6, absolute=0, units=3)
    return Tolerance(relative=0, absolute=0, units=3)
