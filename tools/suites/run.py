"""Evaluates translated cases with `heddle evaluate`, many to a call, and counts what came out."""
import os
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field

from .tensor import OutOfScope, difference, read_safetensors, write_safetensors

BATCH = 100  # graphs to a call: enough to hide the start of a process


@dataclass
class Case:
    name: str
    text: str
    inputs: dict
    expected: list
    tolerance: object
    graph: str


@dataclass
class Report:
    passed: list = field(default_factory=list)
    failed: dict = field(default_factory=dict)     # name -> why
    out_of_scope: dict = field(default_factory=dict)  # name -> reason


def translate(suite, lines, report, only=None):
    cases = []
    for line in lines:
        for name, build in suite.cases(line):
            if only and only not in name:
                continue
            graph_name = "case%d" % len(cases)
            try:
                graph, outputs, expected = build(graph_name)
                cases.append(Case(name, graph.text(outputs), graph.inputs, expected, suite.tolerance(graph), graph_name))
            except OutOfScope as reason:
                report.out_of_scope[name] = str(reason)
            except Exception as error:  # a mistake in the translation is a failure of the case, not of the run
                report.failed[name] = "translation: %s: %s" % (type(error).__name__, error)
    return cases


def call(command, cases, folder):
    """The outputs of all cases, or None and what went wrong."""
    module, inputs, outputs = (os.path.join(folder, f) for f in ("cases.hir", "in.safetensors", "out.safetensors"))
    with open(module, "w") as file:
        file.write("\n".join(c.text for c in cases))
    write_safetensors(inputs, {name: t for c in cases for name, t in c.inputs.items()})
    if os.path.exists(outputs):
        os.remove(outputs)
    run = subprocess.run(command + [module, "--inputs", inputs, "--outputs", outputs], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.strip().replace(folder + "/", "") or "exit code %d" % run.returncode
    return read_safetensors(outputs), None


def judge(case, outputs, report):
    for i, expected in enumerate(case.expected):
        why = difference(outputs["%s/%d" % (case.graph, i)], expected, case.tolerance)
        if why:
            report.failed[case.name] = "output %d %s" % (i, why)
            return
    report.passed.append(case.name)


def evaluate(command, cases, report):
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(cases), BATCH):
            batch = cases[start:start + BATCH]
            outputs, _ = call(command, batch, folder)
            for case in batch:  # where one case stops the others, each has its own turn
                own, why = (outputs, None) if outputs is not None else call(command, [case], folder)
                if own is None:
                    report.failed[case.name] = why.splitlines()[0]
                else:
                    judge(case, own, report)


def print_report(report, verbose):
    for name, why in sorted(report.failed.items()):
        print("failed: %s: %s" % (name, why))
    reasons = Counter(report.out_of_scope.values())
    if verbose:
        for name, reason in sorted(report.out_of_scope.items()):
            print("out of scope: %s: %s" % (name, reason))
    else:
        for reason, count in sorted(reasons.items(), key=lambda r: (-r[1], r[0])):
            print("out of scope: %4d  %s" % (count, reason))
    print("passed %d, failed %d, out of scope %d" % (len(report.passed), len(report.failed), len(report.out_of_scope)))
