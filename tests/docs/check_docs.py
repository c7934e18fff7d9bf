"""What the documents say is executed.

    check_docs.py json FILE...          every JSON block is a model that `heddle check` takes, or a part of one
    check_docs.py shell FILE [--slow]   every command of the indented blocks runs and ends with 0; the lines that follow
                                        `$ COMMAND` are what it prints, whole numbers as they are, others and bytes within a
                                        tenth, whatever they are where they are this machine's
                                        (before s, ms, MB ...); `...` stands for any lines. Where
                                        these show an error, it ends with 1

`heddle` and `tools/heddle` are the binary under test ($HEDDLE, which is called so). A command goes on to the end of its quotes, and of
the text that it is given with <<. Programs in Python run where there is PyTorch. A command that names DIR needs MNIST ($HEDDLE_DATA/mnist), and runs
with --slow only. Commands that are tests or set-ups themselves are listed below with the reason why they do not run here;
so is a block behind a line `<!-- not run: WHY -->`.
"""
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_RUN = {
    "tools/test": "runs this test",
    "tools/setup": "installs packages",
    "tools/lint": "has tests of its own",
    "tools/cases": "has tests of its own",
    "cmake": "is how this build was made",
    "build/dev/bin/heddle_unit_tests": "is a test",
    "ctest": "runs this test",
    "git": "fetches the project",
    "cd": "belongs to the line after it",
}

# A part of a model is tried inside one that has the rest.
REST = {
    "format": "heddle-model/1",
    "name": "part",
    "inputs": {"image": {"shape": ["N", 4, 4, 1]}, "label": {"shape": ["N"], "dtype": "i32"}},
    "nodes": [{"op": "flatten", "in": "image"}, {"name": "logits", "op": "dense", "units": 10}],
    "train": {"batch": {"N": 8}, "steps": 3, "loss": {"op": "cross_entropy", "in": ["logits", "label"]}, "optimizer": "adam"},
}
REST_OF = {
    "inputs": {"let": {"length": 5}, "nodes": [{"op": "cast", "in": "tokens", "dtype": "f32"}], "train": None},
    "blocks": {"inputs": {"x": {"shape": ["N", 64]}}, "train": None},
}


def json_blocks(text):
    """(line number, text) of fenced blocks marked json and of indented blocks that begin with a brace."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        if lines[i].strip() == "```json":
            end = next(j for j in range(i + 1, len(lines)) if lines[j].strip() == "```")
            yield i + 2, "\n".join(lines[i + 1 : end])
            i = end
        elif lines[i].startswith("    {") and (i == 0 or not lines[i - 1].strip()):
            end = next((j for j in range(i, len(lines)) if lines[j].strip() and not lines[j].startswith("    ")), len(lines))
            yield i + 1, "\n".join(line[4:] for line in lines[i:end])
            i = end
        i += 1


def whole_model(text):
    if text.lstrip().startswith("{"):
        return text
    part = json.loads("{" + text + "}")
    rest = {**REST, **REST_OF.get(next(iter(part)), {})}
    return json.dumps({key: value for key, value in {**rest, **part}.items() if value is not None})


def check_json(files):
    count, failed = 0, 0
    for file in files:
        for line, block in json_blocks((ROOT / file).read_text()):
            count += 1
            with tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder) / "model.json"
                model.write_text(whole_model(block))
                run = subprocess.run([os.environ["HEDDLE"], "check", str(model)], capture_output=True, text=True)
            if run.returncode != 0:
                failed += 1
                print(f"{file}:{line}: the model is refused:\n{run.stderr}")
    print(f"{count} JSON blocks, {failed} refused")
    return failed or count == 0


def without_remark(command):
    return command if "\n" in command else re.split(r"\s{2,}(?=\S)|\s+# ", command)[0]


def whole_command(lines, first):
    """The command that begins in this line, to the end of its quotes and of what it is given with <<, and the line behind it."""
    words = lines[first][4:].removeprefix("$ ")
    i = first + 1
    end_of_text = re.search(r"<<'(\w+)'$", words)
    while i < len(lines) and (end_of_text or without_remark(words).count("'") % 2):
        words += "\n" + lines[i][4:]
        i += 1
        if end_of_text and lines[i - 1][4:] == end_of_text[1]:
            break
    return words.strip(), i


NOT_RUN_HERE = re.compile(r"<!-- not run:(.*)-->$")


def end_of_block(lines, begin):
    """The line behind the indented block that begins in or behind this line."""
    first = next((j for j in range(begin, len(lines)) if lines[j].strip()), len(lines))
    return next((j for j in range(first, len(lines)) if lines[j].strip() and not lines[j].startswith("    ")), len(lines))


def commands(text):
    """(line number, command, expected lines or None) of the indented blocks, and of whole programs in Python."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        line, begin = lines[i], i
        i += 1
        if marked := NOT_RUN_HERE.match(line):
            behind = end_of_block(lines, i)
            if not marked[1].strip() or behind == i or not any(x.startswith("    ") for x in lines[i:behind]):
                sys.exit(f"line {i}: expected <!-- not run: WHY --> in front of an indented block")
            i = behind
            continue
        words = line.strip()
        if words == "```python" and lines[i].startswith("import "):
            i = lines.index("```", i)
            yield begin + 1, "python3 - <<'END'\n" + "\n".join(lines[begin + 1 : i]) + "\nEND", None
        if not line.startswith("    ") or line.startswith("     "):
            continue
        if words.startswith("$ "):
            command, i = whole_command(lines, begin)
            end = next((j for j in range(i, len(lines)) if not lines[j].startswith("    ") or lines[j].startswith("    $ ")), len(lines))
            yield begin + 1, command, [x[4:] for x in lines[i:end]]
            i = end
        elif re.match(r"(heddle|tools/\w+|cmp|cmake|ctest|git|cp|awk '|cat >|build/\S+) ?", words):
            command, i = whole_command(lines, begin)
            yield begin + 1, command, None


NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
OF_THE_MACHINE = re.compile(r" ?(s|ms|MB|GB|steps/s|threads?|of the CPU)\b")  # what stands behind such a number


def shape_of(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def numbers_of(line):
    """(number, how much another may differ): what the program and the model decide is exact; a library's memory, a sum is not."""
    for found in NUMBER.finditer(line):
        exact = found[0].isdigit() and not re.match(r" ?bytes\b", line[found.end() :])
        part = math.inf if OF_THE_MACHINE.match(line, found.end()) else 0 if exact else 0.1
        yield float(found[0]), part


OF_A_LIBRARY = re.compile(r'(impl = "\w+"(?:, schedule = "\w+")?), workspace = [0-9]+')  # how much, or none, depends on the processor


def lines_agree(expected, printed):
    expected, printed = (OF_A_LIBRARY.sub(r"\1", line) for line in (expected, printed))
    if shape_of(expected) != shape_of(printed):
        return False
    pairs = zip(numbers_of(expected), numbers_of(printed))
    return all(part == math.inf or abs(a - b) <= part * max(a, b) for (a, part), (b, _) in pairs)


def agrees(expected, printed):
    if not expected:
        return not printed
    if expected[0].strip() == "...":
        return any(agrees(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and lines_agree(expected[0], printed[0]) and agrees(expected[1:], printed[1:])


def prepared(command, folder):
    """The command with the binary under test and the data at hand; None where this run leaves it out."""
    command = without_remark(command)
    words = shlex.split(command)
    if words[0] in NOT_RUN:
        return None
    if words[0] == "python3" and subprocess.run(["python3", "-c", "import torch, safetensors"], capture_output=True).returncode:
        print("not run, as there is no PyTorch with safetensors: a program in Python")
        return None
    needs_data = any(word.split("/")[0] == "DIR" for word in words)
    if needs_data != ("--slow" in sys.argv):
        return None
    data = pathlib.Path(os.environ.get("HEDDLE_DATA", "")) / "mnist"
    if needs_data and not data.is_dir():
        sys.exit(77)
    command = re.sub(r"\bDIR\b", str(data), command)
    return re.sub(r"^tools/heddle\b", "heddle", command)


def check_shell(file):
    ran, failed = 0, 0
    environment = {**os.environ, "PATH": f"{pathlib.Path(os.environ['HEDDLE']).resolve().parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "models").symlink_to(ROOT / "models")
        for line, written, expected in commands((ROOT / file).read_text()):
            command = prepared(written, folder)
            if command is None:
                continue
            run = subprocess.run(["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=environment, capture_output=True, text=True)
            ran += 1
            printed = [x for x in (run.stderr + run.stdout).splitlines() if x.strip()]
            wanted = [x for x in expected or [] if x.strip()]
            code = 1 if any(": error: " in x for x in wanted) else 0
            if run.returncode != code or (expected is not None and not agrees(wanted, printed)):
                failed += 1
                print(f"{file}:{line}: {written}\n  exit {run.returncode}, printed:")
                print("\n".join("    " + x for x in printed[:40]))
    print(f"{file}: {ran} commands, {failed} not as written")
    return failed or ran == 0


def main():
    what, *rest = sys.argv[1:]
    files = [x for x in rest if not x.startswith("--")]
    return 1 if (check_json(files) if what == "json" else any([check_shell(f) for f in files])) else 0


if __name__ == "__main__":
    sys.exit(main())
