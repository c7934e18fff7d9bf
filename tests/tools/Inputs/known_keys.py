"""Compares the keys that `heddle schema` knows with those that the reader knows, in every kind of object: known_keys.py MODEL FRONTEND

A key as null is as good as absent where it is known, and refused where it is not. The words that are tried are those of the schema and
all that the descriptions of keys in the folder FRONTEND hold.
"""
import copy
import glob
import json
import re
import subprocess
import sys
import tempfile

import check_schema

MOST_ERRORS = 20  # that one run tells
FREE = {"let", "inputs", "blocks", "outputs", "batch", "map", "names"}  # their keys are names that the model gives


def words(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from words(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from words(inner)


def objects(value, path=()):
    """Paths of objects; a reader's keys are the model's inputs, too."""
    if isinstance(value, dict):
        if not (path and path[-1] in FREE or path[:2] == ("data", "train")):
            yield path
        for key, inner in value.items():
            yield from objects(inner, path + (key,))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from objects(inner, path + (i,))


def with_nulls(model, path, keys):
    changed = copy.deepcopy(model)
    at = changed
    for step in path:
        at = at[step]
    at.update((key, None) for key in keys)
    return changed


def schema_takes(changed, place):
    """Only the section that was changed is looked at: the others take their time."""
    rule, value = (schema["properties"][place[0]], changed[place[0]]) if place else (schema, changed)
    return check_schema.valid(rule, value, schema)


def refused_by_reader(model, path, keys):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(with_nulls(model, path, keys), file)
        file.flush()
        done = subprocess.run(["heddle", "check", file.name], capture_output=True, text=True)
    refused = set(re.findall(r"has no (?:key|setting) '([\w$]+)'|'(\w+)' is not supported", done.stderr))
    assert (done.returncode == 1) == bool(refused), (path, done.stderr)
    return {one or other for one, other in refused}


model, schema = check_schema.read(sys.argv[1]), check_schema.schema
universe = set(words(schema)) | {"untis"}
for path in glob.glob(sys.argv[2] + "/keys/*.cpp"):
    with open(path, encoding="utf-8") as file:
        universe |= set(re.findall(r'"([a-z_]+)"', file.read()))
places = list(objects(model))
known = 0
for place in places:
    at = model
    for step in place:
        at = at[step]
    others = sorted(universe - set(at))
    taken = [word for word in others if schema_takes(with_nulls(model, place, [word]), place)]
    refused = refused_by_reader(model, place, taken)
    assert not refused, f"the reader does not know {refused} in {place}"
    left = [word for word in others if word not in taken]
    for i in range(0, len(left), MOST_ERRORS):
        part = left[i:i + MOST_ERRORS]
        silent = set(part) - refused_by_reader(model, place, part)
        assert not silent, f"the schema does not know {silent} in {place}"
    known += len(taken)
print(f"{len(places)} objects, {len(universe)} words, {known} known")
