"""perfect_fusion.py GRAD REPORT PROGRAM: bytes that @train's plan moves, over those of perfect fusion.

Perfect fusion is counted from --emit=grad alone. Memory holds operands and results of contractions, inputs and states, and
nothing else. A contraction moves each of its operands and results once. What lies between contractions are regions: all that
needs the same number of contractions, one after another, is one, which reads each held value that it is computed from once, and
writes each that it computes once.

What is planned are the bytes that the report says of each generated kernel, and the operands and results of library calls.
"""
import collections
import re
import sys

CONTRACTIONS = {"conv2d", "conv2d_data_grad", "conv2d_filter_grad", "matmul"}
BYTES = {"f64": 8, "i64": 8, "u64": 8, "f32": 4, "i32": 4, "u32": 4, "f16": 2, "bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1, "bool": 1}
TYPED = re.compile(r"%([\w.]+): (\w+)\[([\d,]*)\]")
NAME = re.compile(r"%([\w.]+)")


def typed(text):
    for name, dtype, dims in TYPED.findall(text):
        size = BYTES[dtype]
        for dim in filter(None, dims.split(",")):
            size *= int(dim)
        yield name, size


class Graph:
    """@train: nodes as (op, results, operands), bytes by name."""

    def __init__(self, text):
        body = re.search(r"^graph @train\(.*?^}", text, re.S | re.M).group(0).splitlines()
        self.bytes = dict(typed(body[0]))
        self.inputs = set(self.bytes)
        self.nodes, self.updates, self.outputs = [], [], []
        for line in map(str.strip, body[1:-1]):
            if line.startswith("update"):
                self.updates.append(NAME.findall(line)[1])
            elif line.startswith("return"):
                self.outputs = NAME.findall(line)
            else:
                self.add(*line.split(" = ", 1))

    def add(self, results, call):
        sizes = dict(typed(results))
        self.bytes.update(sizes)
        self.nodes.append((call.split("(")[0], list(sizes), NAME.findall(call.split("{")[0])))

    def size(self, names):
        return sum(self.bytes[n] for n in names)


def perfect(graph):
    level = collections.defaultdict(int)  # contractions one after another that a value needs
    operands_of, held, made_by_contraction = {}, set(graph.inputs), set()
    moved = contractions = 0
    for op, results, operands in graph.nodes:
        contraction = op in CONTRACTIONS
        for result in results:
            level[result] = max((level[o] for o in operands), default=0) + contraction
            operands_of[result] = operands
        if contraction:
            contractions += 1
            moved += graph.size(results) + graph.size(operands)
            held.update(results, operands)
            made_by_contraction.update(results)

    def read_by(target):
        found, seen, waiting = set(), set(), list(operands_of[target])
        while waiting:
            value = waiting.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in held:
                found.add(value)
            else:
                waiting += operands_of[value]
        return found

    regions = collections.defaultdict(set)
    for value in held.union(graph.updates, graph.outputs):
        if value not in made_by_contraction and value not in graph.inputs:
            regions[level[value]].add(value)
    for written in regions.values():
        read = set().union(*map(read_by, written)) - written
        moved += graph.size(read) + graph.size(written)
    return moved, contractions, len(regions)


def planned(report, program):
    kernel = {}
    for line in report.splitlines():
        found = re.match(r"(k_\w+) +[a-z]+ +(\d+) ", line)
        if found:
            kernel[found[1]] = int(found[2])
    entry = re.search(r"^entry train:.*?(?=^entry |\Z)", program, re.S | re.M).group(0)
    moved = launches = 0
    for line in entry.splitlines():
        launch = re.match(r" +launch (\w+)\(", line)
        call = re.match(r" +(?:onednn|winograd) \S+?\((.*?)\) : ", line)
        copy = re.match(r" +copy .*?(\d+) bytes", line)
        if launch:
            moved += kernel[launch[1]]
        elif call:
            moved += sum(map(int, re.findall(r"\+\d+:(\d+)", call[1])))
        elif copy:
            moved += 2 * int(copy[1])
        launches += bool(launch or call)
    return moved, launches


def main():
    grad, report, program = (open(path, encoding="utf-8").read() for path in sys.argv[1:4])
    least, contractions, regions = perfect(Graph(grad))
    moved, launches = planned(report, program)
    print(f"contractions {contractions}, regions {regions}")
    print(f"perfect {least / 1e6:.1f} MB, planned {moved / 1e6:.1f} MB")
    print(f"launches {launches}")
    print(f"planned / perfect {moved / least:.3f}")


main()
