"""Checks `heddle schema` against models, and models against it: python3 check_schema.py MODEL...

The validator below knows the words of JSON Schema that the schema uses, and no other; where the package jsonschema is installed, it must
agree with it. Every model passes, and no longer does once a key is misspelt or has a value of another kind.
"""
import copy
import json
import re
import subprocess
import sys

KINDS = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
IGNORED = {"$schema", "$defs", "title", "description", "then"}


def valid(schema, value, root):
    if isinstance(schema, bool):
        return schema
    for word, rule in schema.items():
        if word in IGNORED:
            continue
        if word == "type":
            kinds = [rule] if isinstance(rule, str) else rule
            good = any(KINDS[kind](value) for kind in kinds)
        elif word == "$ref":
            good = valid(root["$defs"][rule.removeprefix("#/$defs/")], value, root)
        elif word == "anyOf":
            good = any(valid(one, value, root) for one in rule)
        elif word == "allOf":
            good = all(valid(one, value, root) for one in rule)
        elif word == "enum":
            good = value in rule
        elif word == "const":
            good = value == rule
        elif word == "pattern":
            good = not isinstance(value, str) or re.search(rule, value) is not None
        elif word == "if":
            good = not valid(rule, value, root) or valid(schema["then"], value, root)
        elif word == "required":
            good = not isinstance(value, dict) or all(key in value for key in rule)
        elif word == "properties":
            good = not isinstance(value, dict) or all(valid(rule[k], v, root) for k, v in value.items() if k in rule)
        elif word == "additionalProperties":
            known = schema.get("properties", {})
            good = not isinstance(value, dict) or all(valid(rule, v, root) for k, v in value.items() if k not in known)
        elif word == "items":
            good = not isinstance(value, list) or all(valid(rule, v, root) for v in value)
        else:
            raise AssertionError(word)
        if not good:
            return False
    return True


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[^"/]+|/', text)
    return json.loads("".join(p for p in parts if not p.startswith("//")))


schema = json.loads(subprocess.run(["heddle", "schema"], capture_output=True, check=True).stdout)
try:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema)
    other = Draft202012Validator(schema).is_valid
except ImportError:
    other = None


asked = 0


def ok(model):
    """The slower one is asked for a part: it takes most of the time."""
    global asked
    asked += 1
    result = valid(schema, model, schema)
    assert other is None or asked % 10 != 1 or other(model) == result, model
    return result


def broken(model):
    """The model with one fault each: a misspelt key in every kind of object, and values of another kind."""

    def with_change(change):
        changed = copy.deepcopy(model)
        change(changed)
        return changed

    def objects(value, path=()):
        if isinstance(value, dict):
            yield path
            for key, inner in value.items():
                yield from objects(inner, path + (key,))
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                yield from objects(inner, path + (i,))

    def at(value, path):
        for step in path:
            value = value[step]
        return value

    # Sizes, names, the readers' columns and overrides are free words; parts of settings are heddle check's.
    checked = [("nodes", 2), ("train", 1), ("optimizer", 2), ("loss", 2), ("metrics", 3), ("data", 1)]
    paths = [()] + [p for p in objects(model) for head, length in checked
                    if len(p) == length and (p[0] == head or p[:2] == ("train", head))]
    for path in paths:
        yield with_change(lambda m: at(m, path).__setitem__("untis", 1))
    for path in paths if len(model["nodes"]) < 12 else [()]:
        yield with_change(lambda m: at(m, path).__setitem__("untis", None))
    yield with_change(lambda m: m.pop("format"))
    yield with_change(lambda m: m.__setitem__("nodes", {}))
    yield with_change(lambda m: m["nodes"].append({"op": "dens", "units": 3}))
    yield with_change(lambda m: m["nodes"].append({"op": "dense"}))
    yield with_change(lambda m: m["nodes"].append({"op": "dense", "units": True}))
    for wrong in (True, [None], [["x"]], {"a": ["x"]}, {"a": {"op": "relu"}}):
        yield with_change(lambda m: m["nodes"][0].__setitem__("in", wrong))
    for wrong in (["logits"], {"logits": 1}, {"logits": ["a"]}, "logits"):
        yield with_change(lambda m: m.__setitem__("outputs", wrong))
    for key, item in (("loss", "mse"), ("loss", {"op": "mse"}), ("metrics", ["accuracy"]), ("metrics", [{"op": "accuracy"}])):
        yield with_change(lambda m: m.get("train", m).__setitem__(key, item))
    for key, maps in model.get("data", {}).get("map", {}).items():
        for i, one in enumerate(maps):
            full = {"op": one} if isinstance(one, str) else one
            yield with_change(lambda m: m["data"]["map"][key].__setitem__(i, {**full, "untis": 1}))
            yield with_change(lambda m: m["data"]["map"][key].__setitem__(i, "nomralize"))
    for split in ("train", "test", "validation"):
        if "op" in model.get("data", {}).get(split, {}):
            yield with_change(lambda m: m["data"][split].__setitem__("op", "cvs"))
            yield with_change(lambda m: m["data"][split].__setitem__("untis", {"a": 1}))
    if "train" in model and len(model["nodes"]) < 12:  # the same in every model, and of long ones slow
        train = model["train"]
        for key, value in (("init", "zeroes"), ("init", {"op": "normal", "sdt": 1}), ("early_stop", {"patiense": 3}),
                           ("early_stop", {"mode": "most"}), ("checkpoint", {"every": 10}), ("checkpoint", {"kep": 2}),
                           ("regularize", ["l2"]), ("regularize", [{"op": "l22", "match": "*", "weight": 1}]),
                           ("constrain", {"op": "max_norm", "max": 1}), ("constrain", [{"op": "clip", "mtach": "*", "max": 1}])):
            yield with_change(lambda m: m["train"].__setitem__(key, value))
        part = train.get("optimizer", "sgd")
        full = {"op": part} if isinstance(part, str) else part
        for key, value in (("lr", {"op": "cosin"}), ("lr", {"op": "step", "evry": 3}), ("weight_decay", {"op": "step"}),
                           ("groups", [{"weight_decay": 0}]), ("groups", [{"match": "*", "lrr": 0}])):
            yield with_change(lambda m: m["train"].__setitem__("optimizer", {**full, key: value}))
        yield with_change(lambda m: m["nodes"].append({"op": "dense", "units": 3, "init": "normall"}))
        yield with_change(lambda m: m["nodes"].append({"op": "dense", "units": 3, "init": {"op": "normal", "mena": 0}}))
        yield with_change(lambda m: m["nodes"].append({"op": "dense", "units": 3, "activation": "rellu"}))
        yield with_change(lambda m: m["train"].pop("batch"))
        yield with_change(lambda m: m["train"].__setitem__("epochs", [3]))
        yield with_change(lambda m: m["train"].__setitem__("optimizer", "adm"))


# Blocks, columns of a table, and every kind of part: the other models hold no more, and take long.
NULLS = ("all_kinds.json", "mini_resnet.json", "tabular_regression.json")


def with_nulls(model):
    """Each member of each object as null, and absent: pairs of models of which both are right, or neither."""

    def walk(value, path):
        if isinstance(value, dict) and path[:1] != ("small",):  # overrides: their null takes a key away
            for key, inner in value.items():
                yield path, key
                yield from walk(inner, path + (key,))
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                yield from walk(inner, path + (i,))

    for path, key in walk(model, ()):
        pair = copy.deepcopy(model), copy.deepcopy(model)
        for changed in pair:
            at = changed
            for step in path:
                at = at[step]
            at[key] = None
            if changed is pair[1]:
                del at[key]
        yield path, key, *pair


if __name__ == "__main__":
    faults, nulls = 0, 0
    for path in sys.argv[1:]:
        model = read(path)
        assert ok(model), path
        for wrong in broken(model):
            faults += 1
            assert not ok(wrong), (path, wrong)
        if path.endswith(NULLS):
            for place, key, null, absent in with_nulls(model):
                nulls += 1
                assert valid(schema, null, schema) == valid(schema, absent, schema), (path, place, key)
    assert faults > 20 * (len(sys.argv) - 1) * 0.5, faults
    print(f"{len(sys.argv) - 1} models, {faults} faults, {nulls} nulls")
