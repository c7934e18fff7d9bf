"""Do the tests bite? Plants one fault at a time and says which test catches it.

    python3 tests/faults/plant.py                       every fault of faults.txt; hours on two cores
    python3 tests/faults/plant.py --only fuse,pack      those whose name contains one of these words
    python3 tests/faults/plant.py --check               only that each fault still fits the sources, in a second
    python3 tests/faults/plant.py --jobs 2 --slow       two at a time, and the slow tests too for what the quick ones miss

Works in copies of the committed tree below build/faults, never in the sources themselves. Run by hand: no test run does it. The table
on standard output has a line for each fault; the last line counts. A fault that the compiler refuses is a mistake in the list.
"""
import argparse
import concurrent.futures
import os
import pathlib
import queue
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests/faults/faults.txt"
TARGETS = ["heddle", "heddle_unit_tests", "heddle_numeric_tests", "heddle_property_tests"]
# Cheap tests first: the first that fails has caught the fault.
QUICK = ["lit_models", "lit_tests", "unit", "numeric", "property", "cases"]
SLOW = ["training", "cases_host", "training_digits"]


def read_faults():
    """Paragraphs `name`, `file`, lines marked `-` (what stands there) and lines marked `+` (the fault); `#` begins a remark."""
    faults = []
    for paragraph in re.split(r"\n\s*\n", LIST.read_text()):
        lines = [x for x in paragraph.splitlines() if x and not x.startswith("#")]
        if not lines:
            continue
        name, file = lines[0].split(" @ ")
        before = "\n".join(x[2:] for x in lines[1:] if x.startswith("- "))
        after = "\n".join(x[2:] for x in lines[1:] if x.startswith("+ "))
        faults.append((name.strip(), file.strip(), before, after))
    return faults


def misfits(faults):
    names = [f[0] for f in faults]
    for name, file, before, after in faults:
        path = ROOT / file
        found = path.read_text().count(before) if path.exists() else 0
        if found != 1 or before == after or names.count(name) != 1:
            yield f"{name}: {file} holds its text {found} times; a fault must fit one place and have a name of its own"


def run(command, folder, limit):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, late.stdout or "", "")


class Copy:
    """A copy of the tree with a build of its own."""

    def __init__(self, number):
        self.folder = ROOT / f"build/faults/{number}"
        if not self.folder.exists():
            subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(self.folder)], check=True)
        subprocess.run(["git", "fetch", "-q", str(ROOT), "HEAD"], cwd=self.folder, check=True)
        subprocess.run(["git", "checkout", "-q", "-f", "FETCH_HEAD"], cwd=self.folder, check=True)
        subprocess.run(["cmake", "--preset", "release"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        self.build(check=True)

    def build(self, check=False):
        built = run(["cmake", "--build", "build/release", "--target", *TARGETS], self.folder, 3600)
        if check and built.returncode != 0:
            sys.exit(built.stdout[-3000:])
        return built

    def first_failure(self, tests):
        for test in tests:
            done = run(["ctest", "--test-dir", "build/release", "-R", f"^{test}$", "--timeout", "600"], self.folder, 900)
            if done.returncode != 0:
                return test
        return None

    def judge(self, fault, tests):
        name, file, before, after = fault
        path = self.folder / file
        text = path.read_text()
        path.write_text(text.replace(before, after))
        try:
            if self.build().returncode != 0:
                return "does not compile"
            return self.first_failure(tests) or "NOT CAUGHT"
        finally:
            path.write_text(text)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--slow", action="store_true")
    given = options.parse_args()
    faults = read_faults()
    wrong = list(misfits(faults))
    print("\n".join(wrong), end="\n" if wrong else "")
    if given.check or wrong:
        print(f"{len(faults)} faults, {len(wrong)} do not fit the sources")
        return 1 if wrong else 0
    words = [w for w in given.only.split(",") if w]
    faults = [f for f in faults if not words or any(w in f[0] for w in words)]
    tests = QUICK + (SLOW if given.slow else [])
    copies = queue.Queue()
    for number in range(given.jobs):
        copies.put(Copy(number))

    def judge(fault):
        copy, begin = copies.get(), time.time()
        try:
            return fault, copy.judge(fault, tests), time.time() - begin
        finally:
            copies.put(copy)

    caught = refused = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for fault, verdict, seconds in pool.map(judge, faults):
            caught += verdict not in ("NOT CAUGHT", "does not compile")
            refused += verdict == "does not compile"
            print(f"{fault[0]:44} {fault[1]:40} {verdict:18} {seconds:4.0f} s", flush=True)
    print(f"{caught} of {len(faults) - refused} faults caught, {refused} do not compile")
    return 0 if caught + refused == len(faults) and not refused else 1


if __name__ == "__main__":
    os.environ.setdefault("HEDDLE_DATA", str(ROOT / "../shared/data"))
    sys.exit(main())
