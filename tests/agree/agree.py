"""Whether all commands say the same of a model: python3 agree.py HEDDLE FOLDER FIRST COUNT (or "sample", a few of them)

Each drawn model goes through check, summary, train (two steps), evaluate, predict and bench. No command may end by a signal or an internal
error, each refusal is a message, and what check passes, train begins: it refuses nothing before its first step that check has not
told, and tells what check told. Data that check does not read are of no matter here: the rows fit.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys

from draw_models import BASE, ROWS, draw_model

HEDDLE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
# Those that ended in internal errors, or of which check and train said different things; and one that is refused.
SAMPLE = [2, 14, 18, 28, 57, 59, 64]
NUMBERS = SAMPLE if sys.argv[3] == "sample" else range(int(sys.argv[3]), int(sys.argv[3]) + int(sys.argv[4]))
FAULTS = []


def write_npy(name, code, shape, values):
    header = str({"descr": code, "fortran_order": False, "shape": shape})
    header += " " * (117 - len(header)) + "\n"
    pack = {"<f4": "f", "<i4": "i", "|u1": "B"}[code]
    (FOLDER / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{pack}", *values))


def write_data():
    write_npy("x.npy", "<f4", (ROWS, 6), [((i * 7) % 13 - 6) / 6 for i in range(ROWS * 6)])
    write_npy("z.npy", "|u1", (ROWS, 2), [i % 5 for i in range(ROWS * 2)])
    write_npy("label.npy", "<i4", (ROWS,), [i % 3 for i in range(ROWS)])
    write_npy("target.npy", "<f4", (ROWS, 3), [((i * 5) % 11 - 5) / 5 for i in range(ROWS * 3)])


def heddle(command, *arguments, seconds=120):
    try:
        return subprocess.run([HEDDLE, command, *arguments], capture_output=True, text=True, timeout=seconds, cwd=FOLDER)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", "takes longer than two minutes")


def first_error(text):
    found = re.search(r"^(?:\S+:\d+:\d+: )?error: (.*)$", text, re.M)
    return found.group(1) if found else None


def says_not(check, command):
    """What check says that a command will refuse: "note: train refuses it: ...", or nothing."""
    found = re.search(rf"note: heddle {command} refuses it: (.*)$", check.stderr, re.M)
    return found.group(1) if found else None


def fault(number, what, result=None):
    FAULTS.append(number)
    print(f"model {number}: {what}")
    if result is not None:
        print("    " + result.stderr.strip()[:1500].replace("\n", "\n    "))


def look_at(number, command, result):
    if result.returncode not in (0, 1, 2, 3, 4):
        fault(number, f"{command} ends with {result.returncode}", result)
    elif result.returncode != 0 and first_error(result.stderr) is None:
        fault(number, f"{command} ends with {result.returncode} and no message", result)


def begun(train):
    """Whether a training came to its first step, or to the rows, which check does not read."""
    return train.returncode == 0 or re.search(r"error: (the loss is|parameter '.*' holds .* after|\w+\.npy: rows are) ", train.stderr) is not None


def compare(number, check, train):
    told = {first_error(check.stderr), says_not(check, "train")} - {None}
    if begun(train):
        if told:
            fault(number, f"check says '{told}', and train begins")
    elif first_error(train.stderr) not in told:
        fault(number, f"check says '{told}', train '{first_error(train.stderr)}'", train)


def try_model(number):
    model, changes = draw_model(number)
    (FOLDER / "m.json").write_text(json.dumps(model))
    (FOLDER / "w.safetensors").unlink(missing_ok=True)
    results = {"check": heddle("check", "m.json"), "summary": heddle("summary", "m.json"),
               "train": heddle("train", "m.json", "--save", "w.safetensors")}
    weights = ["--weights", "w.safetensors"] if (FOLDER / "w.safetensors").exists() else []
    results["evaluate"] = heddle("evaluate", "m.json", *weights)
    for read in (["x"], ["label"], ["x", "label"], list(model.get("inputs") or BASE["inputs"])):  # a model may read any of them
        results["predict"] = heddle("predict", "m.json", "--out", "p.npy", "--overwrite", *(weights or ["--weights", "none"]),
                                    *[f"--in={name}={name}.npy" for name in read])
        if results["predict"].returncode != 2:
            break
    results["bench"] = heddle("bench", "m.json", "--seconds", "0.01")
    for command, result in results.items():
        look_at(number, command, result)
    compare(number, results["check"], results["train"])
    for command in ("summary", "bench"):
        if results["check"].returncode == 0 and says_not(results["check"], "train") is None and results[command].returncode != 0:
            fault(number, f"check finds no fault, {command} refuses", results[command])
    codes = " ".join(f"{command} {result.returncode}" for command, result in results.items())
    print(f"{number} {'+'.join(changes)}: {codes}", flush=True)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_data()
    for number in NUMBERS:
        try_model(number)
    print(f"{len(NUMBERS)} models, {len(set(FAULTS))} with faults: {sorted(set(FAULTS))}")
    sys.exit(bool(FAULTS))


if __name__ == "__main__":
    main()
