"""Do the tests bite? Plants one fault at a time and says which test catches it.

    python3 tests/faults/plant.py --check               only that each fault still fits the sources, in a second
    python3 tests/faults/plant.py --minutes 20          a slice: goes on where the record ends, for 20 minutes
    python3 tests/faults/plant.py --only pack,share     those whose name contains one of these words, recorded or not
    python3 tests/faults/plant.py --tests unit,lit      with these tests only; what they miss counts as missed by them
    python3 tests/faults/plant.py --table               what the record says of each fault, and the totals

Works in a copy of the committed tree, build/faults/copy, never in the sources themselves. Its build stays warm: between two faults only
the files that they touch are compiled, and going back comes from ccache. The test that should catch a fault (`?` in faults.txt) runs
first; only where it does not, all others do, cheap ones first, up to the first that fails. At the end of a slice each test that
caught something runs without faults: one that fails there has caught nothing. Run by hand, nice 10: no test run does it.
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/faults/faults.txt"
COPY = ROOT / "build/faults/copy"
RECORD = ROOT / "build/faults/record.jsonl"
BUILD = COPY / "build/release"
# Cheap tests first. `lit` and `models` are lit's suites, `random` the random graphs, the others GoogleTest binaries.
TESTS = ["unit", "cuda", "ptx", "lit", "models", "numeric", "sums", "fuzz", "property", "random"]
TARGETS = {"lit": "heddle heddle_fake_cuda heddle_fake_cublaslt heddle_fake_cudnn", "models": "heddle", "random": "heddle_random_graphs"}
SUITES = {"lit": "tests", "models": "models"}  # lit's, of which a pattern is a part of names
LIMIT = 240  # seconds; what takes longer hangs


@dataclasses.dataclass
class Fault:
    name: str
    file: str
    first: list  # (kind, pattern) of the tests that should catch it
    edits: list  # (what stands there, the fault)

    def key(self):
        return hashlib.sha256(json.dumps([self.file, self.edits]).encode()).hexdigest()[:16]

    def on_gpu(self):
        return self.name.startswith("gpu-")


def read_fault(lines):
    """`name @ file`, `? kind pattern`, then edits: lines marked `-` (what stands there) and lines marked `+` (the fault)."""
    name, file = lines[0].split(" @ ")
    fault = Fault(name.strip(), file.strip(), [], [])
    last = " "
    for line in lines[1:]:
        mark, text = line[0], line[2:]
        if mark == "?":
            fault.first.append(tuple(text.split(maxsplit=1)))
        elif mark == "-" and last != "-":
            fault.edits.append([text, None])
        elif mark == "-":
            fault.edits[-1][0] += "\n" + text
        elif mark == "+":
            fault.edits[-1][1] = text if fault.edits[-1][1] is None else fault.edits[-1][1] + "\n" + text
        last = mark
    for edit in fault.edits:
        edit[1] = edit[1] or ""  # lines that are dropped
    return fault


def read_faults():
    paragraphs = re.split(r"\n\s*\n", LIST.read_text())
    lines = [[x for x in p.splitlines() if x and not x.startswith("#")] for p in paragraphs]
    return [read_fault(x) for x in lines if x]


def misfits(faults):
    names = [f.name for f in faults]
    for f in faults:
        text = (ROOT / f.file).read_text() if (ROOT / f.file).exists() else ""
        for before, after in f.edits:
            if text.count(before) != 1:
                yield f"{f.name}: {f.file} holds its text {text.count(before)} times, expected once:\n{before}"
            if before == after:
                yield f"{f.name}: it changes nothing"
        if names.count(f.name) != 1:
            yield f"{f.name}: the name is not its own"
        for kind, pattern in f.first:
            if kind not in TESTS:
                yield f"{f.name}: there are no tests '{kind}'"
            if kind in SUITES and not any(re.search(pattern, str(file)) for file in (ROOT / SUITES[kind]).rglob("*.*")):
                yield f"{f.name}: no test of {SUITES[kind]} is called like '{pattern}'"


def run(command, limit=LIMIT):
    """(exit status, output); 124 where it hangs."""
    environment = dict(os.environ, HEDDLE_CACHE=str(BUILD / "kernels"), HEDDLE=str(BUILD / "bin/heddle"), HEDDLE_ALL_CASES="1")
    try:
        done = subprocess.run(command, cwd=COPY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, timeout=limit)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace")


def make_copy():
    """The copy at this tree's last commit; what an earlier run left planted is gone."""
    if not COPY.exists():
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", str(ROOT), str(COPY)], check=True)
    subprocess.run(["git", "fetch", "-q", str(ROOT), "HEAD"], cwd=COPY, check=True)
    subprocess.run(["git", "checkout", "-q", "-f", "--detach", "FETCH_HEAD"], cwd=COPY, check=True)
    shutil.rmtree(COPY / "tests/faults")  # its test would catch any fault
    fast = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
    subprocess.run(["cmake", "--preset", "release", *fast], cwd=COPY, check=True, stdout=subprocess.DEVNULL)


def build(kind):
    return run(["cmake", "--build", "build/release", "--target", *TARGETS.get(kind, f"heddle_{kind}_tests").split()])


def lit(suite, pattern):
    text = (BUILD / "CMakeCache.txt").read_text()
    program = re.search(r"^LIT:FILEPATH=(.*)$", text, re.M).group(1)
    parameters = [f"tools={BUILD / 'bin'}", f"source={COPY}", f"build={BUILD}", "sanitize=OFF"]
    which = ["--filter", pattern] if pattern != "*" else []
    return [sys.executable, program, "-v", "-j2", "--max-failures=1", *which] + [y for p in parameters for y in ("--param", p)] + [suite]


def command_of(kind, pattern):
    if kind in SUITES:
        return lit(SUITES[kind], pattern)
    if kind == "random":
        return [str(BUILD / "bin/heddle_random_graphs"), "--count", "300"]
    fake = ["env", f"LD_LIBRARY_PATH={BUILD / 'fake_cuda'}"] if kind == "cuda" else []
    return [*fake, str(BUILD / f"bin/heddle_{kind}_tests"), "--gtest_fail_fast", f"--gtest_filter={pattern}"]


def failed_test(kind, status, output):
    """The name of the test that failed."""
    if kind in SUITES:
        found = re.search(r"^(?:FAIL|TIMEOUT|UNRESOLVED|XPASS): heddle :: (\S+)", output, re.M)
    else:
        found = re.search(r"^\[  FAILED  \] (\S+?)[,.]? ", output, re.M) if status == 1 else None
        if found is None:  # it crashed, or hangs, in the last that began
            found = ([None] + list(re.finditer(r"^\[ RUN      \] (\S+)", output, re.M)))[-1]
    return found.group(1) if found else "*"


def test(kind, pattern):
    """None where the tests pass, else the name of the one that fails."""
    status, output = run(command_of(kind, pattern))
    return None if status == 0 else failed_test(kind, status, output)


def first_failure(fault, tests):
    """(kind, name) of the test that catches what is planted; None; or an error of the build."""
    built = set()
    for kind, pattern in [f for f in fault.first if f[0] in tests] + [(kind, "*") for kind in tests]:
        if kind not in built and build(kind)[0] != 0:
            return "does not compile"
        built.add(kind)
        name = test(kind, pattern)
        if name is not None:
            return kind, name
    return None


def judge(fault, tests):
    path = COPY / fault.file
    text = path.read_text()
    planted = text
    for before, after in fault.edits:
        planted = planted.replace(before, after)
    path.write_text(planted)
    begin = time.time()
    try:
        found = first_failure(fault, tests)
    finally:
        path.write_text(text)
    entry = {"fault": fault.name, "key": fault.key(), "seconds": round(time.time() - begin)}
    if found is None:
        return entry | {"verdict": "missed", "by": ",".join(tests)}
    if isinstance(found, str):
        return entry | {"verdict": found, "by": ""}
    return entry | {"verdict": "caught", "by": " ".join(found)}


def sound(entry):
    """Whether the test that caught the fault passes without it."""
    kind, name = entry["by"].split(" ", 1)
    return build(kind)[0] == 0 and test(kind, name) is None


def read_record(faults):
    """The last entry of each fault that is still the same."""
    keys = {f.name: f.key() for f in faults}
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    entries = [json.loads(line) for line in lines]
    return {e["fault"]: e for e in entries if keys.get(e["fault"]) == e["key"]}


def note(entry):
    with RECORD.open("a") as out:
        out.write(json.dumps(entry) + "\n")


def campaign(faults, tests, minutes):
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    make_copy()
    end, entries, judged_sound = time.time() + 60 * minutes, [], {}
    for fault in faults:
        if time.time() > end:
            break
        entries.append(judge(fault, tests))
        note(entries[-1])
        print(row(fault, entries[-1]), flush=True)
    for entry in entries:
        if entry["verdict"] != "caught":
            continue
        if judged_sound.setdefault(entry["by"], sound(entry)):
            continue
        note(entry | {"verdict": "unsound"})
        print(f"{entry['by']} fails without a fault, too: {entry['fault']} is not caught by it", flush=True)


def row(fault, entry):
    return f"{fault.name:42} {fault.file:36} {entry['verdict']:8} {entry['by']}"


def total(title, faults, record):
    verdicts = [record[f.name]["verdict"] for f in faults if f.name in record]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts)))
    return f"{title}: {len(faults)} faults, {counts or 'none run'}, {len(faults) - len(verdicts)} not run"


def table(faults):
    record = read_record(faults)
    lines = [row(f, record.get(f.name, {"verdict": "not run", "by": ""})) for f in faults]
    lines.append(total("text that only a GPU reads", [f for f in faults if f.on_gpu()], record))
    lines.append(total("all else", [f for f in faults if not f.on_gpu()], record))
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true")
    options.add_argument("--table", action="store_true")
    options.add_argument("--only", default="", metavar="WORD,...")
    options.add_argument("--tests", default=",".join(TESTS), metavar="KIND,...")
    options.add_argument("--minutes", type=float, default=1e6)
    given = options.parse_args()
    faults = read_faults()
    wrong = list(misfits(faults))
    print("\n".join(wrong), end="\n" if wrong else "")
    if given.check or wrong:
        print(f"{len(faults)} faults, {len(wrong)} do not fit the sources")
        return 1 if wrong else 0
    if given.table:
        print(table(faults))
        return 0
    words = [w for w in given.only.split(",") if w]
    recorded = read_record(faults)
    chosen = [f for f in faults if (any(w in f.name for w in words) if words else f.name not in recorded)]
    os.nice(10)
    campaign(chosen, given.tests.split(","), given.minutes)
    print("\n".join(table(faults).splitlines()[-2:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
