"""Compares `heddle schema` with `heddle ops --json`: every part with every key, and no other. python3 schema_keys.py SCHEMA OPS"""
import json
import sys

schema, ops = (json.load(open(path)) for path in sys.argv[1:])
OPEN = {"reader"}  # the model's inputs are keys, too
OWN = {"op", "groups", "match"}
counts, keys = {}, 0
for entry in ops["others"]:
    definition = schema["$defs"][entry["kind"]]
    rules = definition["allOf"] if "allOf" in definition else definition["anyOf"][1]["allOf"]
    (rule,) = [r["then"] for r in rules if r["if"]["properties"]["op"]["const"] == entry["name"]]
    wanted = {s["name"] for s in entry["settings"]}
    assert set(rule["properties"]) - OWN == wanted, (entry["name"], rule["properties"])
    assert set(rule.get("required", [])) - OWN == {s["name"] for s in entry["settings"] if s["required"]}, entry["name"]
    assert (rule["additionalProperties"] is False) != (entry["kind"] in OPEN), entry["name"]
    assert rule["description"] == entry["doc"], entry["name"]
    assert ("match" in rule.get("required", [])) == (entry["kind"] in ("regularizer", "constraint")), entry["name"]
    if entry["kind"] == "optimizer":
        group = rule["properties"]["groups"]["anyOf"][1]["items"]  # [0]: null
        assert set(group["properties"]) == wanted | {"match"} and group["required"] == ["match"], entry["name"]
    counts[entry["kind"]] = counts.get(entry["kind"], 0) + 1
    keys += len(wanted)
print(", ".join(f"{kind} {counts[kind]}" for kind in ("reader", "map", "initializer", "schedule", "regularizer", "constraint", "optimizer")) + f": {keys} keys")
