"""Models with empty, constant and huge parts: draw_model(number) is a function of the number alone.

A model begins as a small one that trains; one to three of the changes below empty a part of it, make it constant, or make it huge. Some are
refused, the others work: agree.py asks whether all commands say the same.
"""
import copy
import random

ROWS = 20  # of the files in agree.py: two batches of 8 and a remainder of 4
FILES = {"x": "x.npy", "z": "z.npy", "label": "label.npy", "target": "target.npy"}
BASE = {
    "format": "heddle-model/1",
    "name": "drawn",
    "inputs": {"x": {"shape": ["N", 6]}, "label": {"shape": ["N"], "dtype": "i32"}, "target": {"shape": ["N", 3]}},
    "nodes": [{"name": "h", "op": "dense", "in": "x", "units": 4, "activation": "tanh"}, {"name": "logits", "op": "dense", "units": 3}],
    "outputs": {"logits": "logits"},
    "train": {"batch": {"N": 8}, "steps": 2, "loss": {"op": "cross_entropy", "in": ["logits", "label"]},
              "metrics": [{"op": "accuracy", "in": ["logits", "label"]}], "optimizer": {"op": "sgd", "lr": 0.01}},
    "data": {"train": {"op": "npy", **{k: FILES[k] for k in ("x", "label", "target")}},
             "test": {"op": "npy", **{k: FILES[k] for k in ("x", "label", "target")}}}}


def mean_loss(model, name):
    model["nodes"].append({"name": "number", "op": "mean", "in": name})
    model["train"]["loss"] = {"op": "value", "in": "number"}


def losses(model):
    loss = model["train"].get("loss", [])
    return loss if isinstance(loss, list) else [loss]


# --- nothing is computed, or nothing is read ---

def no_nodes(model, _):
    model["nodes"] = []
    model["outputs"] = {"logits": "x"}
    model["train"]["loss"] = {"op": "mse", "in": ["target", "target"]}
    model["train"]["metrics"] = []


def no_parameters(model, _):
    model["nodes"] = [{"name": "logits", "op": "slice", "in": "x", "stop": 3}]


def a_parameter_alone(model, r):
    model["nodes"].append({"name": "own", "op": "param", "shape": r.choice([[], [1], [3], [2, 2]])})
    mean_loss(model, "own")


def constant_loss(model, r):
    model["nodes"].append({"name": "fixed", "op": "constant", "value": r.choice([0, 1, 3.5]), "shape": r.choice([[], [4]])})
    mean_loss(model, "fixed")


def constant_added(model, _):
    model["nodes"].append({"name": "fixed", "op": "constant", "value": 1})
    model["train"]["loss"] = [*losses(model), {"op": "value", "in": "fixed"}]


def random_loss(model, r):
    model["nodes"].append({"name": "drawn", "op": r.choice(["random_normal", "random_uniform"]), "shape": r.choice([[3], [2, 2]])})
    mean_loss(model, "drawn")


def loss_of_an_input(model, _):
    mean_loss(model, "x")


def loss_of_the_target(model, _):
    model["train"]["loss"] = {"op": "mse", "in": ["target", "target"]}


def loss_of_places(model, _):
    model["nodes"] += [{"name": "place", "op": "argmax", "in": "logits"}, {"name": "placed", "op": "cast", "dtype": "f32"}]
    mean_loss(model, "placed")


def times_zero(model, _):
    model["nodes"].append({"name": "nothing", "op": "mul", "in": ["logits", 0]})
    mean_loss(model, "nothing")


def weight_of_zero(model, _):
    for loss in losses(model):
        loss["weight"] = 0


def unused_node(model, r):
    model["nodes"].insert(0, {"name": "unused", "op": "dense", "in": "x", "units": r.choice([1, 2])})
    model["nodes"][1]["in"] = model["nodes"][1].get("in", "x")


def unused_input(model, r):
    model["inputs"]["z"] = {"shape": ["N", 2], "dtype": r.choice(["f32", "f64", "i32", "u8"])}
    for reader in model["data"].values():
        if "x" in reader:
            reader["z"] = FILES["z"]


def only_unused_input(model, r):
    unused_input(model, r)
    a_parameter_alone(model, r)


def output_is(name):
    def change(model, _):
        model["outputs"] = {"result": name}
    return change


def output_without_input(model, _):
    model["nodes"].append({"name": "own", "op": "param", "shape": [3]})
    model["nodes"].append({"name": "twice", "op": "add", "in": ["own", "own"]})
    model["outputs"] = {"result": "twice"}


def no_gradient(model, r):
    op = r.choice(["lgamma", "digamma", "ceil", "round", "sign", "floor", "sort", "argsort", "cumprod", "cummax"])
    model["nodes"].append({"name": "odd", "op": op, "in": "logits"})
    if op == "argsort":
        model["nodes"].append({"name": "floating", "op": "cast", "dtype": "f32"})
    mean_loss(model, model["nodes"][-1]["name"])


# --- an empty list, text or number ---

def put(path, *values):
    def change(model, r):
        at = model
        for key in path[:-1]:
            at = at.get(key, {}) if isinstance(at, dict) else {}
        if isinstance(at, dict):
            at[path[-1]] = copy.deepcopy(r.choice(values))
    change.__name__ = "put_" + ".".join(path)
    return change


def drop(*path):
    def change(model, _):
        at = model
        for key in path[:-1]:
            at = at.get(key, {}) if isinstance(at, dict) else {}
        if isinstance(at, dict):
            at.pop(path[-1], None)
    change.__name__ = "drop_" + ".".join(path)
    return change


def empty_axis(model, r):
    model["nodes"].append(r.choice([
        {"name": "cut", "op": "slice", "in": "logits", "start": 2, "stop": 2},
        {"name": "cut", "op": "reshape", "in": "logits", "shape": ["N", 0]},
        {"name": "cut", "op": "param", "shape": [0]},
        {"name": "cut", "op": "constant", "value": 1, "shape": [0, 3]},
        {"name": "cut", "op": "top_k", "in": "logits", "k": 0, "out": ["cut", "places"]}]))
    mean_loss(model, "cut")


def no_units(model, r):
    model["nodes"][-1 if r.random() < 0.5 else 0]["units"] = r.choice([0, -1])


def empty_block(model, r):
    model["blocks"] = {"same": r.choice([
        {"inputs": ["x"], "nodes": [], "output": "x"},
        {"inputs": ["x"], "nodes": [{"name": "y", "op": "relu"}], "output": "x"},
        {"inputs": [], "nodes": [{"name": "y", "op": "constant", "value": 1, "shape": [3]}], "output": "y"},
        {"inputs": ["x"], "nodes": [{"name": "y", "op": "relu"}], "output": "y"}])}
    if r.random() < 0.7 and model["nodes"]:
        model["nodes"].append({"name": "after", "op": "block:same", "in": model["nodes"][-1].get("name", "x")})
        if r.random() < 0.3:
            model["nodes"][-1]["repeat"] = r.choice([0, 1, 3])
        mean_loss(model, "after")


def metric_of(name, op):
    def change(model, _):
        if name == "fixed":
            model["nodes"].append({"name": "fixed", "op": "constant", "value": 2, "shape": ["N", 3]})
        model["train"]["metrics"] = [{"op": op, "in": [name, "target" if op in ("mse", "r2") else "label"]}]
    change.__name__ = f"metric_{op}_of_{name}"
    return change


def metric_of_parameters(model, _):
    model["nodes"] += [{"name": "a", "op": "param", "shape": [3]}, {"name": "b", "op": "param", "shape": [3], "init": "ones"}]
    model["train"]["metrics"] = [{"op": "mse", "in": ["a", "b"]}]


def one_channel_left(model, _):
    model["nodes"].insert(1, {"name": "norm", "op": "batch_norm", "in": model["nodes"][0].get("name", "x")} if model["nodes"] else {})
    model["train"]["batch"] = {"N": r_batch(model)}


def r_batch(_):
    return 19  # 20 rows leave one


def dropout(model, r):
    model["nodes"].append({"name": "dropped", "op": "dropout", "in": "logits", "rate": r.choice([0, 0.5, 1])})
    mean_loss(model, "dropped")


def embedding(model, r):
    model["nodes"].append({"name": "table", "op": "embedding", "in": "label", "vocab": r.choice([3, 1, 0, 2 ** 36, 2 ** 40]), "units": 2,
                           "sparse": r.random() < 0.5})
    if r.random() < 0.6:
        mean_loss(model, "table")


# --- huge ---

def huge_units(model, r):
    if model["nodes"]:
        model["nodes"][0]["units"] = r.choice([2 ** 31, 2 ** 33, 2 ** 38, 2 ** 41, 2 ** 62])


def huge_constant(model, r):
    model["nodes"].append({"name": "wide", "op": "constant", "value": 1, "shape": r.choice([[2 ** 39], [2 ** 20, 2 ** 19], [2 ** 41], [2 ** 40]])})
    mean_loss(model, "wide")


def huge_parameter(model, r):
    model["nodes"].append({"name": "wide", "op": "param", "shape": r.choice([[2 ** 36], [2 ** 20, 2 ** 19], [2 ** 41], [2 ** 40]])})
    mean_loss(model, "wide")


def huge_broadcast(model, _):
    model["nodes"] += [{"name": "ones", "op": "constant", "value": 1, "shape": [2 ** 30, 1]}, {"name": "wide", "op": "matmul", "in": ["ones", "ones"], "transpose_b": True}]
    mean_loss(model, "wide")


def huge_depth(model, r):
    model["nodes"].append({"name": "one", "op": "one_hot", "in": "label", "depth": r.choice([2 ** 20, 2 ** 39, 2 ** 62, 0])})
    mean_loss(model, "one")


CHANGES = [
    no_nodes, no_parameters, a_parameter_alone, constant_loss, constant_added, random_loss, loss_of_an_input, loss_of_the_target,
    loss_of_places, times_zero, weight_of_zero, unused_node, unused_input, only_unused_input, output_is("x"), output_is("label"),
    output_is("logits.weight"), output_without_input, no_gradient, empty_axis, no_units, empty_block, metric_of("fixed", "mse"),
    metric_of("fixed", "accuracy"), metric_of("fixed", "r2"), metric_of("target", "mse"), metric_of("label", "accuracy"),
    metric_of_parameters, one_channel_left, dropout, embedding, huge_units, huge_constant, huge_parameter, huge_broadcast, huge_depth,
    put(["outputs"], {}, {"a": "h", "b": "h"}), put(["inputs"], {}), put(["let"], {}), put(["blocks"], {}), put(["name"], ""),
    put(["train"], {}), put(["train", "metrics"], []), put(["train", "loss"], [], {}), put(["train", "optimizer"], {}, "adam", "lion"),
    put(["train", "freeze"], [], ["*"], ["*.weight"], ["*.bias"], ["nothing"], [""]),
    put(["train", "batch"], {"N": 1}, {"N": 20}, {"N": 21}, {"N": 0}, {"N": 2 ** 31}, {"N": 2 ** 40}, {"N": 2 ** 62}, {}),
    put(["train", "drop_last"], True, False), put(["train", "clip_norm"], 0, 1, 1e300), put(["train", "steps"], 0, 1),
    put(["train", "epochs"], 0, 1), put(["train", "average"], {}, {"decay": 0.5}), put(["train", "early_stop"], {}),
    put(["train", "optimizer"], {"op": "sgd", "lr": 0}, {"op": "adam", "groups": []}, {"op": "adam", "groups": [{"match": "*", "lr": 0}]},
        {"op": "adam", "groups": [{"match": []}]}, {"op": "sgd", "lr": {"op": "cosine", "peak": 0}}),
    put(["train", "regularize"], [], {"op": "l2", "match": "*", "weight": 0.1}, {"op": "l1", "match": "*.bias", "weight": 0},
        [{"op": "elastic", "match": "*", "l1": 0.001, "l2": 1}], {"op": "orthogonal", "match": "*", "weight": 0.1}, ["l2"]),
    put(["train", "constrain"], [], {"op": "non_negative", "match": "*"}, {"op": "clip", "match": "*", "min": 1, "max": 0},
        [{"op": "unit_norm", "match": "*"}, {"op": "max_norm", "match": "nothing", "max": 1}], {"op": "max_norm", "match": "*", "max": 1, "axis": 1}),
    put(["data"], {}), put(["data", "train"], {}), put(["data", "validation"], {"fraction": 0.5}, {"fraction": 0.01}, {"fraction": 0}, {}),
    put(["data", "map"], {}, {"x": []}, {"x": [{"op": "one_hot", "depth": 6}]}, {"x": ["normalize"]}),
    put(["small"], {}), drop("data"), drop("data", "test"), drop("data", "train"), drop("train"), drop("train", "loss"),
    drop("train", "optimizer"), drop("train", "metrics"), drop("train", "batch"), drop("outputs"), drop("nodes"), drop("inputs", "target"),
    drop("inputs", "label"), drop("train", "steps")]


def draw_model(number):
    r = random.Random(f"agree {number}")
    model = copy.deepcopy(BASE)
    if number < len(CHANGES):  # each change once alone
        changes = [CHANGES[number]]
    else:
        changes = r.sample(CHANGES, r.choice([1, 2, 2, 3]))
    for change in changes:
        try:
            change(model, r)
        except (AttributeError, IndexError, KeyError, TypeError):  # what it would change has gone
            pass
    if isinstance(model.get("train"), dict) and not {"steps", "epochs"} & set(model["train"]):
        model["train"]["steps"] = 2
    return model, [getattr(c, "__name__", "output") for c in changes]
