"""What `heddle inspect --memory` prints, and what trainings take: python3 inspect_memory.py CASE...

A case is a model and its options, "resnet20 --small". Of each, from the printed text alone:

- the parts sum to the peak, which is what the training's program takes to the byte;
- each limit of the table trains, computes as many blocks again as its row says, and leaves the limit's other plans alone;
  one byte less than the last is refused; the predicted time rises from row to row;
- the largest batch within a limit trains under it, and the next one is refused.
"""
import json
import re
import subprocess
import sys


def heddle(*words):
    run = subprocess.run(["heddle", *words], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def inspect(case, *more):
    code, text, error = heddle("inspect", *case, *more, "--memory", "--device=host")
    assert code == 0, error
    return text


def train(case, *more):
    return heddle("train", *case, "--device=host", "--quiet", "--json", "--set", "train.steps=1", *more)


def number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    assert found, (pattern, text)
    return int(found.group(1).replace(",", ""))


def rows_of(text):
    rows = []
    for line in text.splitlines():
        found = re.match(r" +(\d+)B +[\d.]+ % +([\d.e+]+) ms  (?:none|(\d+) of (\d+): .*)$", line)
        if found:
            rows.append((int(found.group(1)), float(found.group(2)), int(found.group(3) or 0)))
    return rows


def check_parts(case, text):
    peak = number(r"^peak memory: ([\d,]+) bytes", text)
    ring = number(r"^  ring +([\d,]+)  ", text)
    head = text.split("activations by layer")[0].split("--memory-limit")[0]
    parts = [int(n.replace(",", "")) for n in re.findall(r"^  \S.*? ([\d,]+)  +[\d.]+ %$", head, re.MULTILINE)]
    assert sum(parts) == peak, (case, text)
    code, out, error = train(case)
    assert code == 0, error
    run = json.loads(out)
    assert run["state_bytes"] + run["arena_bytes"] + ring == peak, (case, run, text)


def check_rows(case, rows):
    for (more, faster, few), (less, slower, many) in zip(rows, rows[1:]):
        assert more > less and few < many and faster < slower, (case, rows)
    for limit, _, again in rows:
        code, _, told = train(case, "--memory-limit", f"{limit}B")
        assert code == 0, (case, limit, told)
        found = re.search(r"(\d+) of \d+ blocks are computed again", told)
        assert int(found.group(1) if found else 0) == again, (case, limit, again, told)
    code, _, told = train(case, "--memory-limit", f"{rows[-1][0] - 1}B")
    assert code == 4, (case, rows, told)


def check_batch(case, limit):
    text = inspect(case, "--memory-limit", f"{limit}B")
    rows = number(r"^largest batch within [\d,]+ bytes: (\d+);", text)
    option = re.search(r"^  (--set train\.batch\S*=)\d+:", text, re.MULTILINE).group(1).split(" ")[1]
    within = ["--memory-limit", f"{limit}B", "--set"]
    code, _, told = train(case, *within, f"{option}{rows}")
    assert code == 0, (case, limit, rows, told)
    if "there are no more rows" in text:
        return
    following = number(r"; (\d+) are refused$", text)
    code, _, told = train(case, *within, f"{option}{following}")
    assert code == 4, (case, limit, following, told)


limits = 0
for argument in sys.argv[1:]:
    words = argument.split()
    printed = inspect(words)
    check_parts(words, printed)
    table = rows_of(printed)
    assert table, printed
    check_rows(words, table)
    limits += len(table)
    check_batch(words, table[0][0] * 3)
    check_batch(words, table[-1][0])
print(f"{len(sys.argv) - 1} models, {limits} limits")
