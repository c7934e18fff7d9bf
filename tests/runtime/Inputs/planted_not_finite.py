"""Numbers that are not finite, planted one by one: heddle train --check-finite names the operator, its line, the step and the row.

    planted_not_finite.py HEDDLE FOLDER [NAME ...]      runs all cases, or those of these names

A case plants numbers into one of 20 rows, or settings into the training. Its nodes stand on a line each, so the line that a
message must name is that of a node, of the loss, the optimizer or the data. Batches have 5 rows; `step` is that of the shuffled
row, a function of the seed.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROWS, WIDTH, ROW = 20, 4, 13
NAN, INF = float("nan"), float("inf")
STEP = 3  # that takes row 13
FC = {"name": "fc", "op": "dense", "units": 4}
LOSS = {"op": "mse", "in": ["fc", "t"]}
SGD = {"op": "sgd", "lr": 0.01}


def case(name, nodes, at, text, row=ROW, step=STEP, plant=(), targets=(), loss=None, **train):
    """`at`: the node whose line it is, or 'loss', 'optimizer', 'x', 't'; `plant`: numbers of row 13 of x."""
    return {"name": name, "nodes": nodes, "at": at, "text": text, "row": row, "step": step, "plant": plant, "targets": targets,
            "loss": loss or LOSS, "train": train}


def one(op, plant, text, name=None, **keys):
    """An operator of x, a layer behind it."""
    return case(name or op, [{"name": "y", "op": op, "in": "x", **keys}, FC], "y", text, plant=plant)


def backward(op, plant, text, name=None, nodes=None, **keys):
    """An operator of x times weights of 1, which hardly move: its value is finite, its derivative is not."""
    first = [{"name": "w", "op": "param", "shape": [4], "init": "ones"}, {"name": "id", "op": "mul", "in": ["x", "w"]}]
    body = nodes or [{"name": "y", "op": op, "in": "id", **keys}, FC]
    return case(name or op + "_backward", first + body, "y", text, plant=plant, optimizer={"op": "sgd", "lr": 1e-30})


def weights(name, text, optimizer, step, at="optimizer", row=None, nodes=None, loss=None, plant=(), **train):
    return case(name, nodes or [FC], at, text, row=row, step=step, optimizer=optimizer, loss=loss, plant=plant, **train)


CASES = [
    # --- forward, an element of a row
    one("log", [0], r"log 'y' makes the first -inf, of 0,"),
    one("log", [-1], r"log 'y' makes the first nan, of -1,", name="log_below"),
    one("log1p", [-1], r"log1p 'y' makes the first -inf, of -1,"),
    one("sqrt", [-4], r"sqrt 'y' makes the first nan, of -4,"),
    one("rsqrt", [0], r"rsqrt 'y' makes the first inf, of 0,"),
    one("reciprocal", [0], r"reciprocal 'y' makes the first inf, of 0,"),
    one("exp", [90], r"exp 'y' makes the first inf, of 90,"),
    one("expm1", [100], r"expm1 'y' makes the first inf, of 100,"),
    one("cosh", [-95], r"cosh 'y' makes the first inf, of -95,"),
    one("sinh", [-95], r"sinh 'y' makes the first -inf, of -95,"),
    one("square", [1e20], r"square 'y' makes the first inf, of 1e\+20,"),
    one("acos", [2], r"acos 'y' makes the first nan, of 2,"),
    one("asin", [-2], r"asin 'y' makes the first nan, of -2,"),
    case("acosh", [{"name": "two", "op": "add", "in": ["x", 2]}, {"name": "y", "op": "acosh"}, FC], "y", r"acosh 'y' makes the first nan, of 0.5,", plant=[-1.5]),
    one("atanh", [1], r"atanh 'y' makes the first inf, of 1,"),
    one("erf_inv", [1], r"erf_inv 'y' makes the first inf, of 1,"),
    one("lgamma", [0], r"lgamma 'y' makes the first inf, of 0,"),
    case("div", [{"name": "y", "op": "div", "in": ["t", "x"]}, FC], "y", r"div 'y' makes the first inf, of 1 and 0,", plant=[0]),
    case("div_zeros", [{"name": "y", "op": "div", "in": ["x", "x"]}, FC], "y", r"div 'y' makes the first nan, of 0 and 0,", plant=[0]),
    case("pow", [{"name": "y", "op": "pow", "in": ["x", 0.5]}, FC], "y", r"pow 'y' makes the first nan, of -3 and 0.5,", plant=[-3]),
    case("pow_pole", [{"name": "y", "op": "pow", "in": ["x", -1]}, FC], "y", r"pow 'y'.* makes the first inf, of .*0", plant=[0]),
    case("mul", [{"name": "y", "op": "mul", "in": ["x", 10]}, FC], "y", r"mul 'y' makes the first inf, of 1e\+38 and 10,", plant=[1e38]),
    case("mod", [{"name": "y", "op": "mod", "in": ["t", "x"]}, FC], "y", r"mod 'y' makes the first nan, of 1 and 0,", plant=[0]),
    # --- forward, sums
    case("sum", [{"name": "y", "op": "sum", "axis": [1], "keepdims": True}, FC], "y", r"sum 'y'.* makes the first inf, of numbers up to 3e\+38,",
         plant=[3e38, 3e38, 0, 0]),
    case("matmul", [{"name": "big", "op": "dense", "units": 4, "init": {"op": "constant", "value": 2}}, FC], "big",
         r"dense 'big', by its matmul, makes the first inf, of numbers up to 3e\+38,", plant=[3e38]),
    case("prod", [{"name": "y", "op": "cumprod", "axis": 1}, FC], "y", r"cumprod 'y' makes the first inf,", plant=[1e20, 1e20, 1, 1]),
    case("loss", [FC], "loss", r"loss mse, by its .*, makes the first inf,", targets=[1e25]),
    # --- what masks hide is not named
    case("masked", [{"name": "hidden", "op": "log", "in": "x"}, {"name": "is_small", "op": "le", "in": ["x", 0]},
                    {"name": "kept", "op": "select", "in": ["is_small", 1, "hidden"]}, {"name": "big", "op": "mul", "in": ["kept", 100]},
                    {"name": "y", "op": "exp"}, FC], "y", r"exp 'y' makes the first inf, of 100,", plant=[0]),
    # --- backward
    backward("sqrt", [0], r"the gradient of sqrt 'y'.* makes the first (inf|nan)"),
    backward("acos", [1], r"the gradient of acos 'y'.* makes the first -?(inf|nan)"),
    backward("norm", [0, 0, 0, 0], r"the gradient of sqrt 'y'.* makes the first (inf|nan)",
             nodes=[{"name": "squares", "op": "square", "in": "id"}, {"name": "total", "op": "sum", "axis": [1], "keepdims": True},
                    {"name": "y", "op": "sqrt"}, FC]),
    backward("hidden", [0], r"the gradient of log 'y'.* makes the first (inf|nan)",
             nodes=[{"name": "y", "op": "log", "in": "id"}, {"name": "is_small", "op": "le", "in": ["x", 0]},
                    {"name": "kept", "op": "select", "in": ["is_small", 1, "y"]}, FC]),
    backward("pow", [0], r"the gradient of pow 'y'.* makes the first -?(inf|nan)",
             nodes=[{"name": "y", "op": "pow", "in": ["id", 0.5]}, FC]),
    # --- optimizer
    weights("lr", r"loss mse, by its .*, makes the first inf", {"op": "sgd", "lr": 1e30}, 2, at="loss"),
    weights("lr_too_large", r"optimizer sgd, by its mul, makes the first -?inf, of .*, for 'fc", {"op": "sgd", "lr": 1e38}, 1,
            loss={"op": "mse", "in": ["fc", "t"], "weight": 1e4}),
    weights("adam_eps", r"optimizer adam, by its div, makes the first nan, of 0 and 0, for 'fc", {"op": "adam", "lr": 0.01, "eps": 0}, 1,
            nodes=[{"name": "zero", "op": "mul", "in": ["x", 0]}, FC]),
    case("phases", [{"name": "y", "op": "log", "in": "x"}, FC], "y", r"log 'y' makes the first -inf, of 0,", plant=[0], loss=None,
         phases=[{"name": "one", "parameters": "*.weight", "loss": {"op": "mse", "in": ["fc", "t"]}, "optimizer": SGD},
                 {"name": "two", "parameters": "*.bias", "loss": {"op": "mae", "in": ["fc", "t"]}, "optimizer": SGD}]),
    # --- data
    case("nan", [FC], "x", r"input 'x' of npy 'x.npy' holds nan", plant=[NAN]),
    case("infinity", [FC], "x", r"input 'x' of npy 'x.npy' holds -inf", plant=[1, -INF]),
    case("target", [FC], "t", r"input 't' of npy 't.npy' holds nan", targets=[NAN]),
    # --- 16 bits
    case("f16", [FC], "fc", r"dense 'fc'.* makes the first -?inf,", plant=[6e4, 6e4, 6e4, 6e4], step=50, batch=20, steps=60,
         precision={"mixed": "f16"}),
    one("exp", [90], r"exp 'y' makes the first inf, of 90,", name="bf16") | {"train": {"precision": {"mixed": "bf16"}}},
    # --- parts of a step
    one("log", [0], r"log 'y' makes the first -inf, of 0,", name="accumulate") | {"train": {"accumulate": 5}},
    one("log", [0], r"log 'y' makes the first -inf, of 0,", name="unequal_parts") | {"train": {"batch": 9, "accumulate": 3}, "step": 2},
    one("log", [0], r"log 'y' makes the first -inf, of 0,", name="left_over") | {"train": {"batch": 12}, "step": 2},
    case("scan", [{"name": "rows", "op": "reshape", "shape": ["N", 2, 2]},
                  {"name": "rnn", "op": "scan", "block": "cell", "in": {"x": "rows"}, "slice": ["x"], "carry": {"h": ["N", 2]},
                   "out": ["last", "all"]}, {**FC, "in": "last"}],
         "inner", r"exp 'inner' makes the first inf, of 90,", plant=[0, 0, 0, 90]),
]


def npy(path, rows):
    header = str({"descr": "<f4", "fortran_order": False, "shape": (len(rows), WIDTH)})
    header += " " * (117 - len(header)) + "\n"
    packed = b"".join(struct.pack(f"<{WIDTH}f", *row) for row in rows)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + packed)


def number(value):
    return json.dumps(value)


def write(folder, case):
    """The model's file, and the line of each of its parts."""
    rows = [[0.1 + ((r * 7 + c * 3) % 8) / 10 for c in range(WIDTH)] for r in range(ROWS)]
    targets = [[1.0] * WIDTH for _ in range(ROWS)]
    rows[ROW][:len(case["plant"])] = case["plant"]
    targets[ROW][:len(case["targets"])] = case["targets"]
    npy(folder / "x.npy", rows)
    npy(folder / "t.npy", targets)
    lines, where = ['{"format": "heddle-model/1", "name": "m",', '"inputs": {"x": {"shape": ["N", 4]}, "t": {"shape": ["N", 4]}},'], {}
    if any(node["op"] == "scan" for node in case["nodes"]):
        lines.append('"blocks": {"cell": {"inputs": ["x", "h"], "output": "next", "nodes": [')
        lines.append('{"name": "inner", "op": "exp", "in": "x"}, {"name": "next", "op": "add", "in": ["inner", "h"]}]}},')
        where["inner"] = len(lines)
    lines.append('"nodes": [')
    for node in case["nodes"]:
        if node is case["nodes"][0] and node["op"] != "param":
            node = {"in": "x", **node}
        lines.append(number(node) + ("," if node["name"] != case["nodes"][-1]["name"] else "],"))
        where[node["name"]] = len(lines)
    train = {"batch": 5, "steps": 8, **case["train"]}
    lines.append(f'"train": {{"batch": {{"N": {train["batch"]}}}, "steps": {train["steps"]},')
    parts = {} if "phases" in train else {"loss": case["loss"], "optimizer": SGD}
    for key, value in {**parts, **case["train"]}.items():
        if key in ("batch", "steps"):
            continue
        lines.append(f'"{key}": {number(value)},')
        where[key] = len(lines)
    lines.append('"seed": 0},')
    lines += ['"data": {"train": {"op": "npy",', '"x": "x.npy",', '"t": "t.npy"}}}']
    where["x"], where["t"] = len(lines) - 1, len(lines)
    path = folder / "m.json"
    path.write_text("\n".join(lines) + "\n")
    return path, where


def run(heddle, folder, case):
    """What is wrong with the message; empty: nothing."""
    folder = folder / case["name"]
    folder.mkdir(parents=True, exist_ok=True)
    path, where = write(folder, case)
    done = subprocess.run([heddle, "train", str(path), "--check-finite", "--quiet"], capture_output=True, text=True)
    first = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr)
    row = f"training row {case['row']}(,|$)" if case["row"] is not None else ""
    wanted = [f"m.json:{where[case['at']]}:", f" step {case['step']} ", case["text"], row]
    missing = [w for w in wanted if not re.search(w, first)]
    if done.returncode != 1:
        missing.append(f"exit code 1, not {done.returncode}")
    return f"{case['name']}: {missing} not in: {first}" if missing else ""


def main():
    heddle, folder, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    cases = [c for c in CASES if not names or c["name"] in names]
    with ThreadPoolExecutor(2) as pool:
        faults = [fault for fault in pool.map(lambda c: run(heddle, folder, c), cases) if fault]
    print("\n".join(faults + [f"{len(cases) - len(faults)} of {len(cases)} planted numbers are named"]))
    return 1 if faults else 0


sys.exit(main())
