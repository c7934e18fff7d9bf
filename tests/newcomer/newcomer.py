"""Every registered part as a new user meets it: python3 newcomer.py HEDDLE FOLDER [KIND.. | rows]

Each part is used in a small model that trains some steps. Then it is misused: misspelt, with an unknown key, without a key that it
needs, with values of the wrong type, with inputs of the wrong number, type and shape. Each misuse is refused with exit code 1 at
its file, line and column. Each layer with parameters is used a second time, by `share`, and has no parameters more. The parts come from the registry: a new one without a row in parts.py, or a rule, fails; `rows` asks for
this alone, and runs nothing.
"""
import json
import pathlib
import re
import subprocess
import sys

import data
import parts

HEDDLE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ROWS_ALONE = sys.argv[3:] == ["rows"]
KINDS = [] if ROWS_ALONE else sys.argv[3:]
KINDS = KINDS or ["layer", "loss", "metric", "optimizer", "schedule", "initializer", "regularizer", "constraint", "reader", "map"]
FAULTS, COUNTS = [], {"parts": 0, "trained": 0, "misuses": 0}
AT_ONCE = 24  # layers in one training: a compilation takes longer than they do


def heddle(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=300, cwd=FOLDER)


def registry():
    found = {kind: {} for kind in KINDS}
    wanted = [word for kind in KINDS if kind != "map" for word in ("--kind", kind)]
    for part in json.loads(heddle("ops", "--json", *wanted).stdout)["others"] if wanted else []:
        found[part["kind"]][part["name"]] = part
    if "map" in found:
        table = heddle("ops", "--tables").stdout.partition("<!-- maps -->")[2].partition("<!--")[0]
        names = re.findall(r"^\| `(\w+)`", table, re.M)
        keys = {row: re.findall(r"`(\w+)`(?: \(|,| \|)", row.split("|")[2] + "|") for row in table.splitlines() if row.startswith("| `")}
        for name, row in zip(names, keys):
            found["map"][name] = {"name": name, "inputs": None, "settings": [{"name": k, "required": False} for k in keys[row]]}
    return found


# --- models ---

def inputs_of(shapes):
    return {name: {"shape": ["N", *shape], "dtype": dtype} for name, (shape, dtype, *_) in shapes.items()}


HEAD = [{"name": "logits", "op": "dense", "in": "x", "units": 3}, {"name": "log_probs", "op": "log_softmax"},
        {"name": "one", "op": "dense", "in": "x", "units": 1}, {"name": "score", "op": "reshape", "shape": ["N"]},
        {"name": "scalar", "op": "mean", "in": "score"},
        {"name": "nine", "op": "dense", "in": "x", "units": 9}, {"name": "steps", "op": "reshape", "shape": ["N", 3, 3]},
        {"name": "boxes", "op": "dense", "in": "sequence", "units": 4}]
BASE = {"batch": {"N": 8}, "steps": 2, "loss": {"op": "cross_entropy", "in": ["logits", "label"]}, "optimizer": {"op": "sgd", "lr": 0.01}}


def text_of(model, part):
    """The model's text, and the line of the part, which is an object that occurs in it once; on a line of its own."""
    whole = json.dumps(model)
    marked = json.dumps(part)
    before, found, after = whole.partition(marked)
    assert found, (marked, whole)
    return before + "\n" + marked + "\n" + after


def plain_model(nodes=(), train=None, reader=None, shapes=None):
    return {"format": "heddle-model/1", "name": "newcomer", "inputs": inputs_of(shapes or parts.INPUTS), "blocks": parts.BLOCKS,
            "nodes": [*HEAD, *nodes],
            "outputs": {"logits": "logits"}, "train": {**BASE, **(train or {})},
            "data": {"train": reader or {"op": "npz", "file": "columns.npz", **{name: name for name in parts.INPUTS}}}}


def after(node, i):
    """Nodes that make one number of what a layer returns."""
    result = node["out"][0] if "out" in node else node["name"]
    return [{"name": "f%d" % i, "op": "cast", "in": result, "dtype": "f32"}, {"name": "m%d" % i, "op": "mean"}]


def layer_row(name, part):
    row = parts.LAYERS.get(name)
    if row is None:
        needed = [s["name"] for s in part["settings"] if s["required"]]
        if needed or not 1 <= len(part["inputs"]) <= 2:
            FAULTS.append("the layer %s has no row in parts.py" % name)
            return None
        row = {}
    default = {} if not part["inputs"] else {"in": "x"} if len(part["inputs"]) == 1 else {"in": ["x", "big"]}
    return {"name": "tried_" + name, "op": name, **default, **row}


def layer_model(nodes):
    used = [n for i, node in enumerate(nodes) for n in [node, *after(node, i)]]
    losses = [BASE["loss"], *({"op": "value", "in": "m%d" % i, "weight": 0.01} for i in range(len(nodes)))]
    return plain_model([*parts.BEFORE, *used], {"loss": losses})


def model_of(kind, name, part):
    """(model, the part in it), or None where there is no row."""
    if kind == "layer":
        node = layer_row(name, part)
        return node and (layer_model([node]), node)
    rows = {"loss": parts.LOSSES, "metric": parts.METRICS, "optimizer": parts.OPTIMIZERS, "schedule": parts.SCHEDULES,
            "initializer": parts.INITIALIZERS, "regularizer": parts.REGULARIZERS, "constraint": parts.CONSTRAINTS, "reader": parts.READERS, "map": parts.MAPS}[kind]
    if name not in rows:
        FAULTS.append("the %s %s has no row in parts.py" % (kind, name))
        return None
    if kind in ("reader", "map"):
        return data_model(kind, name, rows[name])
    used = {"op": name, **rows[name]}
    if kind == "loss":
        return plain_model(train={"loss": [used]}), used
    if kind == "metric":
        return plain_model(train={"metrics": [used]}), used
    if kind == "optimizer":
        return plain_model(train={"optimizer": used}), used
    if kind in ("regularizer", "constraint"):
        return plain_model(train={"regularize" if kind == "regularizer" else "constrain": [used]}), used
    if kind == "schedule":
        return plain_model(train={"optimizer": {"op": "sgd", "lr": used}}), used
    return plain_model([{"name": "tried", "op": "dense", "in": "x", "units": 6, "init": used}, *after({"name": "tried"}, 0)],
                       {"loss": [BASE["loss"], {"op": "value", "in": "m0"}]}), used


def data_model(kind, name, row):
    shape, dtype = row[0], row[1] if kind == "map" else "f32"
    used = {"op": name, **row[-1]}
    shapes = {"picture": (shape, dtype), "label": ([], "i32")}
    file = "picture.npy" if len(shape) == 1 or name == "one_hot" else "colours.npy" if len(shape) == 3 else "grid.npy"
    reader = used if kind == "reader" else {"op": "npy", "picture": file, "label": "label.npy"}
    model = plain_model(reader=reader, shapes=shapes)
    classes = 10 if name in ("cifar", "synthetic") else 3
    model["nodes"] = [{"op": "cast", "in": "picture", "dtype": "f32"}, {"op": "flatten"}, {"name": "logits", "op": "dense", "units": classes}]
    if kind == "reader" and len(row) == 3:
        model["inputs"] = inputs_of({"picture": (shape, "i32"), "label": (row[1], "i32")})
        model["nodes"] = [{"op": "embedding", "name": "wte", "in": "picture", "vocab": 50, "units": 4}, {"name": "logits", "op": "dense", "units": 50}]
    if kind == "map":
        model["data"]["map"] = {"picture": [used]}
    if "targets" in used:  # another input of the same tokens
        model["data"]["train"]["label"] = file
        model["inputs"] = inputs_of({"picture": (shape, "i32"), "label": (shape, "i32")})
        model["nodes"] = [{"op": "embedding", "name": "wte", "in": "picture", "vocab": 256, "units": 4}, {"name": "logits", "op": "dense", "units": 256}]
    return model, used


# --- what must happen ---

def used_again(node):
    """The layer with the parameters of `node`; all that it needs is what it reads and names for its results."""
    out = node.get("out", [])
    names = {"out": [n + "_again" for n in out] if isinstance(out, list) else out + "_again"} if out else {}
    return {"name": node["name"] + "_again", "op": node["op"], "share": node["name"], **{k: node[k] for k in ("in",) if k in node}, **names}


def share(nodes):
    model = layer_model([n for node in nodes for n in (node, used_again(node))])
    what = "layers, shared, " + " ".join(node["op"] for node in nodes)
    train(model, what)
    run = heddle("summary", "model.json", "--json")
    paths = [p["path"] for p in json.loads(run.stdout)["parameters"]] if run.returncode == 0 else []
    if not paths or any("_again" in path for path in paths):
        FAULTS.append("%s: the second use has parameters of its own: %s%s" % (what, paths, run.stderr))


def train(model, what):
    path = FOLDER / "model.json"
    path.write_text(json.dumps(model))
    run = heddle("train", "model.json")
    if run.returncode != 0:
        FAULTS.append("%s does not train (exit code %d): %s" % (what, run.returncode, run.stderr.strip()))
    COUNTS["trained"] += 1


def refused(model, part, at, what, says=(), may_pass=False):
    """`at`: the text of the part's line at whose beginning the message stands; None: anywhere in the line or before it."""
    COUNTS["misuses"] += 1
    text = text_of(model, part)
    (FOLDER / "model.json").write_text(text)
    run = heddle("check", "model.json")
    if may_pass and run.returncode == 0:
        return False
    if run.returncode == 0 and what.startswith("reader"):
        run = heddle("train", "model.json")  # the files are read there
    line = text[:text.index(json.dumps(part))].count("\n") + 1
    places = re.findall(r"^(?:\S*/)?model\.json:(\d+):(\d+): error: (.*(?:\n(?!\S*model\.json).*)*)", run.stderr, re.M)
    column = None if at is None else str(json.dumps(part).index(at) + 1)
    good = [m for l, c, m in places if (column is None or (l == str(line) and c == column)) and all(s in m for s in says)]
    if run.returncode != 1 or not good:
        FAULTS.append("%s: expected exit code 1 and an error at %d:%s with %s, got %d:\n%s\nof %s" % (
            what, line, column, list(says), run.returncode, run.stderr.strip(), json.dumps(part)))
    return True


def wrong_value(setting):
    kind = setting.get("type", "")
    return 3 if kind in ("true or false", "a value") or "object" in kind or "true" in kind else True


def replaced(model, part, other):
    return json.loads(json.dumps(model).replace(json.dumps(part), json.dumps(other), 1))


def misuse(kind, name, part, model, used):
    what = "%s %s" % (kind, name)
    attempt = lambda other, at, why, *says, **more: refused(replaced(model, used, other), other, at, what + ", " + why, says, **more)  # noqa: E731
    misspelt = {**used, "op": name[:1] + "q" + name[1:]}
    attempt(misspelt, json.dumps(misspelt["op"]), "misspelt", "there is no", "help: ")
    attempt({**used, "frobnicate": 1}, '"frobnicate"', "with an unknown key", "frobnicate")
    for setting in part["settings"]:
        key = setting["name"]
        if setting["required"]:
            attempt({k: v for k, v in used.items() if k != key}, None, "without " + key, "'%s'" % key)
        value = wrong_value(setting)
        other = {**{k: v for k, v in used.items() if k != key}, key: value}
        attempt(other, json.dumps(value) + "}", "with %s of a wrong type" % key, key, "expected")
    if part.get("inputs") and kind in ("layer", "loss", "metric"):
        wrong_inputs(kind, used, attempt)


def wrong_inputs(kind, used, attempt):
    given = used["in"] if isinstance(used["in"], list) else [used["in"]]
    attempt({**used, "in": []}, "[]", "without inputs", "empty")
    attempt({**used, "in": 7 if kind != "layer" else {"frob": "x"}}, None, "with an input that is none")
    attempt({**used, "in": ["absent", *given[1:]]}, '"absent"', "with an unknown input", "there is no 'absent'")
    others = ["label", "ids", "image", "x"]
    taken = [not attempt({**used, "in": [other, *given[1:]]}, None, "reading " + other, may_pass=True) for other in others]
    if all(taken) and len(given) > 1 and used["op"] != "gather":  # which finds elements of whatever there is
        FAULTS.append("%s takes anything as its first input" % used["op"])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    data.write(FOLDER, parts.INPUTS)
    waiting, holding = [], []
    for kind, found in registry().items():
        if not found:
            FAULTS.append("the registry has no %s" % kind)
        for name, part in found.items():
            COUNTS["parts"] += 1
            made = model_of(kind, name, part)
            if made is None or ROWS_ALONE:
                continue
            misuse(kind, name, part, *made)
            waiting.append(made[1]) if kind == "layer" else train(made[0], "%s %s" % (kind, name))
            if part.get("parameters") and "where asked for" not in part["parameters"]:
                holding.append(made[1])
    for i in range(0, len(waiting), AT_ONCE):
        train(layer_model(waiting[i:i + AT_ONCE]), "layers " + " ".join(node["op"] for node in waiting[i:i + AT_ONCE]))
    for i in range(0, len(holding), AT_ONCE // 2):
        share(holding[i:i + AT_ONCE // 2])
    for fault in FAULTS:
        print("fault: " + fault)
    print("%(parts)d parts, %(trained)d trainings, %(misuses)d misuses" % COUNTS, end="")
    print(", %d faults" % len(FAULTS))
    sys.exit(1 if FAULTS else 0)


if __name__ == "__main__":
    main()
