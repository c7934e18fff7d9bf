"""Checks that no pass asks for an operator by its name: heddle ops --json | python3 tools/check_op_names.py [ROOT]

What is true of an operator stands in its own file (ir/op_traits.h), and passes ask for that. Sources may create an operator by
name, as in b("reshape", {x}); each other word that is an operator's name, and each comparison or look-up of an operator's name,
is told, but for those in ALLOWED, where the reason stands. An entry that nothing needs any more is told, too.
"""
import json
import pathlib
import re
import sys

CHECKED = ("passes", "codegen", "ir/kernel", "runtime/host", "frontend/training/index_checks.cpp", "frontend/training/sparse_update.cpp",
           "frontend/build_graph.cpp")
# Builder, its results by name, and an operator's definition; what is created, not what is asked for.
CREATES = re.compile(r'\b(?:b_?(?:\.multi)?|op_def)\($')
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
ASKS = re.compile(r'(?:op(?:->|\.)name\s*(?:==|!=|<|>|\.(?:starts_with|ends_with|find|contains|rfind|compare)\b))'
                  r'|(?:(?:==|!=)\s*[\w.>()\[\]*-]*\bop(?:->|\.)name\b)'
                  r'|(?:\.(?:find|count|contains|at)\([\w.>()\[\]*-]*\bop(?:->|\.)name\b)'
                  r'|\bfind_op\(')
# (file, word or question): why it is no question about an operator, or one that has to be.
ALLOWED = {
    ("passes/simplify/expression.cpp", "op->name !="):
        "a scalar rule is a text of operators, 'neg(neg(x))', and is proved as that text: matching it is reading it",
    ("passes/simplify/scalar.cpp", ".find(n.op->name"): "the rules' own texts, by their first word",
    ("passes/pipeline.cpp", "select"): "a pass",
    ("passes/pipeline.cpp", "feed"): "a pass",
    ("passes/select/select.cpp", "select"): "a pass",
    ("ir/kernel/count/scalar_instructions.cpp", "*"): "functions of the preamble, hd::max, which several operators call",
    ("codegen/c_text.cpp", "*"): "words of C++, and functions of the preamble for index expressions",
    ("frontend/training/sparse_update.cpp", "constant"): "the end of a value's name",
    ("frontend/training/sparse_update.cpp", "add"): "how rows are combined: a value of the attribute `combine`",
}


def files(root):
    for place in CHECKED:
        path = root / place
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".h", ".cpp"))


def code(line):
    """The line without its comment."""
    at = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|//', line):
        if match.group() == "//":
            return line[:match.start()]
        at = match.end()
    return line


def questions(text, names):
    """(line number, what is asked) of a file."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = code(line)
        if line.lstrip().startswith("#"):
            continue
        for match in WORD.finditer(line):
            if match.group(1) not in names:
                continue
            ahead = line[:match.start()]
            if not CREATES.search(ahead if ahead.strip() else before.rstrip()):
                yield number, match.group(1)
        for match in ASKS.finditer(line):
            yield number, match.group()
        before = line


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    names = {op["name"] for op in json.load(sys.stdin)["ops"]}
    used, faults = set(), []
    for path in files(root):
        name = path.relative_to(root).as_posix()
        for number, what in questions(path.read_text(), names):
            entry = next((e for e in ((name, what), (name, "*")) if e in ALLOWED), None)
            used.add(entry)
            if entry is None:
                faults.append(f"{name}:{number}: asks for an operator by name, {what}: state what is true of it in ir/op_traits.h")
    if len(sys.argv) <= 1:
        faults += [f"{name}: nothing asks for {what}: take it out of ALLOWED" for name, what in ALLOWED if (name, what) not in used]
    print("\n".join(faults) if faults else f"no pass asks for one of {len(names)} operators by name")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
