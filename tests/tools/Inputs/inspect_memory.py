"""What `heddle inspect --memory` prints, and what trainings take: python3 inspect_memory.py [--train] CASE...

A case is a model, its options and a limit: "resnet20 --small @4MiB". Of each, from the printed text alone:

- the parts sum to the peak, which is what the training's program takes to the byte;
- each limit of the table computes as many blocks again as its row says; one byte less than the last is refused; the
  predicted time rises from row to row;
- the largest batch within the limit of the case trains under it, and the next one is refused.

`heddle summary` plans what a training plans. With --train, each limit trains, too.
"""
import json
import re
import subprocess
import sys

SCALE = {"us": 1e-6, "ms": 1e-3, "s": 1}


def heddle(*words):
    run = subprocess.run(["heddle", *words], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def train(case, *more):
    return heddle("train", *case, "--device=host", "--quiet", "--json", *more)


def number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    assert found, (pattern, text)
    return int(found.group(1).replace(",", ""))


def rows_of(text):
    rows = []
    for line in text.splitlines():
        found = re.match(r" +(\d+)B +[\d.]+ % +([\d.e+]+) (us|ms|s)  (?:none|(\d+) of \d+: .*)$", line)
        if found:
            rows.append((int(found.group(1)), float(found.group(2)) * SCALE[found.group(3)], int(found.group(4) or 0)))
    return rows


def check_parts(case, text, limit):
    peak = number(r"^peak memory: ([\d,]+) bytes", text)
    ring = number(r"^  ring +([\d,]+)  ", text)
    head = text.split("activations by layer")[0].split("--memory-limit")[0]
    parts = [int(n.replace(",", "")) for n in re.findall(r"^  \S.*? ([\d,]+)  +[\d.]+ %$", head, re.MULTILINE)]
    assert sum(parts) == peak, (case, text)
    code, out, error = train(case, "--memory-limit", limit)
    assert code == 0, error
    run = json.loads(out)
    assert run["state_bytes"] + run["arena_bytes"] + ring == peak, (case, run, text)


def check_row(case, limit, again, run):
    code, out, told = run(case, "--memory-limit", f"{limit}B")
    assert code == 0, (case, limit, told)
    found = re.search(r"(\d+) of \d+ blocks are computed again", told)
    assert int(found.group(1) if found else 0) == again, (case, limit, again, told)
    return json.loads(out)


def check_rows(case, rows, all_train):
    plan = lambda case, *more: heddle("summary", *case, "--json", *more)
    for (more, faster, few), (less, slower, many) in zip(rows, rows[1:]):
        assert more > less and few < many and faster < slower, (case, rows)
    for limit, _, again in rows:
        parts = check_row(case, limit, again, plan)["memory"]["parts"]
        assert parts["state"] + parts["arena"] - limit < 65536, (case, limit, parts)  # gaps between states
        if all_train:
            check_row(case, limit, again, train)
    code, _, told = train(case, "--memory-limit", f"{rows[-1][0] - 1}B")
    assert code == 4, (case, rows, told)


def check_batch(case, text, limit):
    rows = number(r"^largest batch within [\d,]+ bytes: (\d+);", text)
    option = re.search(r"^  --set (train\.batch\S*=)\d+:", text, re.MULTILINE).group(1)
    within = ["--memory-limit", limit, "--set"]
    code, _, told = train(case, *within, f"{option}{rows}")
    assert code == 0, (case, limit, rows, told)
    if "there are no more rows" in text:
        return
    following = number(r"; (\d+) are refused$", text)
    code, _, told = train(case, *within, f"{option}{following}")
    assert code == 4, (case, limit, following, told)


limits = 0
cases = [words for words in sys.argv[1:] if words != "--train"]
for argument in cases:
    words, bytes_text = argument.split("@")
    words = [*words.split(), "--set", "train.steps=2"]  # where a schedule ends changes what is kept
    status, printed, fault = heddle("inspect", *words, "--memory", "--device=host", "--memory-limit", bytes_text)
    assert status == 0, fault
    check_parts(words, printed, bytes_text)
    table = rows_of(printed)
    assert table, printed
    check_rows(words, table, "--train" in sys.argv)
    check_batch(words, printed, bytes_text)
    limits += len(table)
print(f"{len(cases)} models, {limits} limits")
