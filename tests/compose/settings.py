"""What models are composed of: SETTINGS name the values that each part of a training may have, `model` writes a row of them as a model.

Pictures [8, 8, 2] go through convolutions, words of three indices through a table, and both meet before the last layers.
"""
import random

import data

TRAIN = {"whole": 24, "ragged": 26, "ragged, dropped": 26}  # of batches of 8
BATCH, EPOCHS, CLASSES, VOCAB = 8, 3, 4, 6
SAVED_EVERY = 5  # steps: within an epoch, which has three or four

SETTINGS = {
    "optimizer": ["sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "radam", "lion", "lamb"],
    "schedule": ["number", "constant", "cosine", "cosine_restarts", "exponential", "linear", "one_cycle", "plateau", "polynomial", "step"],
    "groups": ["none", "biases", "two"],
    "average": ["none", "from the first step", "from the fourth"],
    "clip": ["none", "norm"],
    "regularize": ["none", "l2", "elastic and orthogonal"],
    "constrain": ["none", "norms", "signs and bounds"],
    "prune": ["none", "half", "two of four"],
    "decay": ["none", "all", "matrices"],
    "layout": ["NHWC", "NCHW"],
    "norm": ["none", "batch", "batch, cumulative", "group", "layer"],
    "dropout": ["none", "elements", "channels"],
    "repeat": ["none", "block", "block in a block"],
    "tied": ["none", "table", "layer"],
    "words": ["plain", "padding", "sparse", "frozen"],
    "freeze": ["none", "stem", "norms and biases"],
    "loss": ["cross_entropy", "nll", "smoothing", "kl_divergence"],
    "class_weights": ["none", "given"],
    "row_weights": ["none", "given", "a batch of zeros"],
    "ignored": ["none", "some", "a whole batch"],
    "losses": ["one", "two", "and a value"],
    "dtype": ["f32", "f16", "bf16", "f64"],
    "rows": list(TRAIN),
    "reader": ["npz", "npy", "u8"],
    "maps": ["none", "flip", "crop", "cutout", "flip, crop, cutout", "mixup", "normalize"],
    "validation": ["none", "fraction", "rows"],
    "draw": ["none", "balance", "weights"],
}
# The kinds of metric go round by a model's number.
METRICS = [
    [{"op": "accuracy"}, {"op": "confusion"}], [{"op": "perplexity"}, {"op": "f1", "average": "macro"}],
    [{"op": "top_k_accuracy", "k": 2}, {"op": "precision", "class": 1}], [{"op": "recall", "average": "none"}, {"op": "iou", "average": "micro"}],
]
SPARSE_RULES = {"sgd", "momentum", "adagrad", "adam"}


def allowed(row):
    """What docs/model-format.md rules out, of a row or of a part of one."""
    has = lambda name, *values: row.get(name) in values  # noqa: E731
    if has("draw", "balance") and has("ignored", "some", "a whole batch") or has("draw", "weights") and has("row_weights", "none"):
        return False  # a class may have no row; the weights are those of the loss
    labels_are_numbers = has("loss", "kl_divergence")  # shares of the classes, which mixup needs, too
    if has("words", "sparse") and (has("average", "from the first step", "from the fourth") or has("decay", "all", "matrices")
                                   or has("tied", "table") or has("regularize", "l2") or "optimizer" in row and row["optimizer"] not in SPARSE_RULES):
        return False
    if (labels_are_numbers or has("maps", "mixup")) and (has("class_weights", "given") or has("ignored", "some", "a whole batch")):
        return False
    return not (has("maps", "mixup") and "loss" in row and not labels_are_numbers)


def schedule(kind):
    rate = 0.02
    return {"number": rate, "constant": {"op": "constant", "value": rate, "warmup": 2},
            "cosine": {"op": "cosine", "peak": rate, "min": 0.001, "warmup": 2},
            "cosine_restarts": {"op": "cosine_restarts", "peak": rate, "steps": 2, "factor": 2},
            "exponential": {"op": "exponential", "value": rate, "gamma": 0.8}, "linear": {"op": "linear", "peak": rate},
            "one_cycle": {"op": "one_cycle", "peak": rate},
            "plateau": {"op": "plateau", "value": rate, "patience": 0, "threshold": 0.5, "factor": 0.5},
            "polynomial": {"op": "polynomial", "peak": rate, "power": 2}, "step": {"op": "step", "value": rate, "steps": 3}}[kind]


def optimizer(row):
    op = {"momentum": "sgd"}.get(row["optimizer"], row["optimizer"])
    out = {"op": op, "lr": schedule(row["schedule"])}
    if row["optimizer"] == "momentum":
        out.update(momentum=0.9, **({} if row["words"] == "sparse" else {"nesterov": True}))
    if row["decay"] == "matrices":
        out["decay"] = "matrices"
    out["weight_decay"] = 0 if row["decay"] == "none" else 0.05
    groups = {"none": [], "biases": [{"match": "*.bias", "weight_decay": 0}],
              "two": [{"match": ["logits.*", "mix"], "lr": 0.01}, {"match": "*.weight"}]}[row["groups"]]
    if row["groups"] == "biases" and row["decay"] == "none":
        groups[0] = {"match": "*.bias", "lr": 0.005}
    return {**out, **({"groups": groups} if groups else {})}


def norm(row, name):
    kinds = {"batch": {"op": "batch_norm"}, "batch, cumulative": {"op": "batch_norm", "momentum": 0.5, "scale": False},
             "group": {"op": "group_norm", "groups": 2}, "layer": {"op": "layer_norm"}}
    return [{"name": name, **kinds[row["norm"]]}] if row["norm"] != "none" else []


def pictures(row):
    dims = ["N", 8, 8, 2] if row["layout"] == "NHWC" else ["N", 2, 8, 8]
    out = [{"name": "picture", "op": "reshape", "in": "image", "shape": dims},
           {"name": "stem", "op": "conv2d", "filters": 4, "kernel": 3, "bias": row["norm"] == "none"}, *norm(row, "stem_norm"), {"op": "elu"}]
    if row["dropout"] != "none":
        out.append({"name": "drop", "op": "dropout" if row["dropout"] == "elements" else "spatial_dropout", "rate": 0.25})
    if row["repeat"] != "none":
        out.append({"name": "body", "op": "block:" + ("residual" if row["repeat"] == "block" else "outer"), "repeat": 2, "with": {"f": 4}})
    return [*out, {"name": "seen", "op": "global_avg_pool"}]


def blocks(row):
    inside = [{"name": "conv", "op": "conv2d", "in": "x", "filters": "f", "kernel": 3, "pad": "same", "bias": row["norm"] == "none"},
              *norm(row, "norm"), {"name": "bent", "op": "tanh"}, {"name": "y", "op": "add", "in": ["x", "bent"]}]
    outside = [{"name": "inner", "op": "block:residual", "in": "x", "with": {"f": "f"}}, {"name": "y", "op": "mul", "in": ["inner", 0.5]}]
    return {"residual": {"inputs": ["x"], "nodes": inside, "output": "y"}, "outer": {"inputs": ["x"], "nodes": outside, "output": "y"}}


def words(row):
    table = {"name": "table", "op": "embedding", "in": "words", "vocab": VOCAB, "units": 4}
    table.update({"padding": {"padding": 0}, "sparse": {"sparse": True}}.get(row["words"], {}))
    return [table, {"name": "said", "op": "mean", "axis": 1}]


def meeting(row):
    """Both halves in the type that is asked for, by products of parameters that are cast to it, and back."""
    out = [{"name": "both", "op": "concat", "in": ["seen", "said"], "axis": 1}, {"name": "mix", "op": "param", "shape": [4, 8]}]
    given, weight = "both", "mix"
    if row["dtype"] != "f32":
        out += [{"name": "both_cast", "op": "cast", "in": "both", "dtype": row["dtype"]},
                {"name": "mix_cast", "op": "cast", "in": "mix", "dtype": row["dtype"]}]
        given, weight = "both_cast", "mix_cast"
    out += [{"name": "mixed", "op": "matmul", "in": [given, weight], "transpose_b": True}, {"op": "silu"}, {"name": "gated", "op": "softmax"},
            {"name": "met", "op": "mul", "in": ["mixed", "gated"]}]
    return [*out, {"name": "back", "op": "cast", "dtype": "f32"}] if row["dtype"] != "f32" else [*out, {"name": "back", "op": "mul", "in": ["met", 1]}]


def head(row):
    out = []
    last = "back"
    if row["tied"] == "layer":  # the same weight twice, once from the other side
        out += [{"name": "code", "op": "dense", "in": "back", "units": 3, "activation": "tanh"},
                {"name": "decoded", "op": "matmul", "in": ["code", "code.weight"]}, {"name": "sum", "op": "add", "in": ["back", "decoded"]}]
        last = "sum"
    if row["tied"] == "table":
        out += [{"name": "scores", "op": "matmul", "in": [last, "table.weight"], "transpose_b": True}]
        last = "scores"
    return [*out, {"name": "logits", "op": "dense", "in": last, "units": CLASSES}, {"name": "log_probs", "op": "log_softmax"},
            {"name": "squares", "op": "mul", "in": ["logits", "logits"]}, {"name": "size", "op": "mean"}]


def losses(row):
    op = {"smoothing": "cross_entropy"}.get(row["loss"], row["loss"])
    first = {"op": op, "in": ["log_probs" if op in ("nll", "kl_divergence") else "logits", "label"]}
    if row["loss"] == "smoothing":
        first["label_smoothing"] = 0.1
    if row["class_weights"] == "given":
        first["class_weights"] = [1, 0.5, 2, 1.25]
    if row["row_weights"] != "none":
        first["weights"] = "weight"
    other = {"op": "mse", "in": ["logits", "target"], "weight": 0.1}
    return {"one": first, "two": [first, other], "and a value": [{**first, "weight": 2}, other, {"op": "value", "in": "size", "weight": 0.01}]}[row["losses"]]


def inputs(row):
    one_hot = row["loss"] == "kl_divergence"
    out = {"image": {"shape": ["N", 8, 8, 2] if row["layout"] == "NHWC" else ["N", 2, 8, 8]}, "words": {"shape": ["N", 3], "dtype": "i32"},
           "label": {"shape": ["N", CLASSES]} if one_hot else {"shape": ["N"], "dtype": "i32"}}
    if row["row_weights"] != "none":
        out["weight"] = {"shape": ["N"]}
    if row["losses"] != "one":
        out["target"] = {"shape": ["N", CLASSES]}
    return out


def maps(row):
    pictures = {"none": [], "flip": ["flip"], "crop": [{"op": "crop", "pad": 1}], "cutout": [{"op": "cutout", "size": 3}],
                "flip, crop, cutout": ["flip", {"op": "crop", "pad": 2, "fill": 0.25}, {"op": "cutout", "size": 2}],
                "mixup": ["flip", {"op": "mixup", "alpha": 0.4}], "normalize": ["normalize"]}[row["maps"]]
    if row["reader"] == "u8" and row["maps"] != "normalize":
        pictures = [{"op": "scale", "by": "1/128.0"}, *pictures]
    labels = [{"op": "one_hot", "depth": CLASSES}] if row["loss"] == "kl_divergence" else []
    if row["maps"] == "mixup":
        labels.append({"op": "mixup", "alpha": 0.4})
    return {name: given for name, given in (("image", pictures), ("label", labels)) if given}


def reader(row, split):
    names = list(inputs(row))
    if row["reader"] == "npz":
        return {"op": "npz", "file": split + ".npz", **{n: n for n in names}}
    return {"op": "npy", **{n: "%s.%s.npy" % (split, n) for n in names}}


def freeze(row):
    kept = ["table.weight"] if row["words"] == "frozen" else []
    if row["freeze"] == "stem":
        kept.append("stem.weight")
    if row["freeze"] == "norms and biases":
        kept += ["*.bias", *(["*norm.*"] if row["norm"] not in ("none",) and row["norm"] != "batch, cumulative" else [])]
    return kept


def model(row, number):
    labels = row["loss"] != "kl_divergence"
    nodes = [*pictures(row), *words(row), *meeting(row), *head(row)]
    if not labels:
        nodes.append({"name": "class", "op": "argmax", "in": "label"})
    metrics = [{**m, "in": ["logits", "label" if labels else "class"]} for m in METRICS[number % len(METRICS)]]
    train = {"batch": {"N": BATCH}, "epochs": EPOCHS, "seed": number, "loss": losses(row), "metrics": metrics, "optimizer": optimizer(row),
             "checkpoint": {"every": {"steps": SAVED_EVERY}, "keep": 100}}
    if row["average"] != "none":
        train["average"] = {"decay": 0.8, "start": 0 if row["average"] == "from the first step" else 4}
    if row["clip"] == "norm":
        train["clip_norm"] = 0.2
    if row["regularize"] != "none":
        train["regularize"] = {"l2": [{"op": "l2", "match": "*", "weight": 0.01}],
                               "elastic and orthogonal": [{"op": "elastic", "match": ["*.bias", "mix"], "l1": 0.002, "l2": 0.01},
                                                          {"op": "orthogonal", "match": ["stem.weight", "mix"], "weight": 0.01}]}[row["regularize"]]
    if row["constrain"] != "none":
        train["constrain"] = {"norms": [{"op": "max_norm", "match": "*.weight", "max": 0.9}, {"op": "unit_norm", "match": "mix", "axis": 0}],
                              "signs and bounds": [{"op": "non_negative", "match": ["logits.*", "table.weight"]},
                                                   {"op": "clip", "match": "*", "min": -0.5, "max": 0.75}]}[row["constrain"]]
    if row["prune"] != "none":
        train["prune"] = {"half": {"match": ["mix", "logits.*"], "amount": 0.5, "end": 6, "every": 2},
                          "two of four": {"match": "mix", "amount": "2:4", "begin": 3, "end": 3}}[row["prune"]]
    if row["rows"] == "ragged, dropped":
        train["drop_last"] = True
    if freeze(row):
        train["freeze"] = freeze(row)
    data = {"train": reader(row, "train"), "test": reader(row, "test"), **({"map": maps(row)} if maps(row) else {})}
    if row["validation"] != "none":
        data["validation"] = {"fraction": 0.2} if row["validation"] == "fraction" else reader(row, "validation")
    if row["draw"] != "none":
        data["draw"] = {"balance": "label"} if row["draw"] == "balance" else {"weights": "weight"}
    return {"format": "heddle-model/1", "name": "composed_%d" % number, "layout": row["layout"], "inputs": inputs(row), "blocks": blocks(row),
            "nodes": nodes, "outputs": {"logits": "logits"}, "train": train, "data": data}


# --- the rows ---

def columns(row, split, rows, pick):
    """{input: (dtype, shape, values)} of a split."""
    shapes, out = inputs(row), {}
    one_hot = row["loss"] == "kl_divergence"
    for name, given in shapes.items():
        shape = [rows, *(given["shape"][1:] if name != "label" else [])]
        count = 1
        for size in shape:
            count *= size
        if name == "image" and row["reader"] == "u8":
            out[name] = ("u8", shape, [pick.randrange(256) for _ in range(count)])
        elif name == "words":
            out[name] = ("i32", shape, [pick.randrange(VOCAB) for _ in range(count)])
        elif name == "label":
            out[name] = ("i32", shape, labels(row, rows, pick, one_hot))
        elif name == "weight":
            out[name] = ("f32", shape, weights(row, rows, pick))
        else:
            out[name] = ("f32", shape, [pick.uniform(-1, 1) for _ in range(count)])
    return out


# Of more batches than there are of these rows one has none.
COUNTED = (0, 5)


def labels(row, rows, pick, one_hot):
    out = [pick.randrange(CLASSES) for _ in range(rows)]
    if row["draw"] == "balance":
        out[:CLASSES] = range(CLASSES)
    if row["ignored"] == "some":
        out = [-100 if i % 3 == 1 else label for i, label in enumerate(out)]
    if row["ignored"] == "a whole batch":
        out = [label if i in COUNTED else -100 for i, label in enumerate(out)]
    return out


def weights(row, rows, pick):
    out = [pick.uniform(0.5, 2) for _ in range(rows)]
    return out if row["row_weights"] == "given" else [w if i in COUNTED else 0.0 for i, w in enumerate(out)]


def splits(row, train):
    """The splits' names and rows, of a training with so many of `train`."""
    rows = train[row["rows"]]
    if row["validation"] == "fraction":
        rows = rows * 5 // 4  # the fifth of which is for validation
    return ("train", rows), ("validation", 9), ("test", 11)


def write_rows(row, folder, number):
    pick = random.Random(1000 + number)
    for split, rows in splits(row, TRAIN):
        made = {name: data.npy(dtype, shape, values) for name, (dtype, shape, values) in columns(row, split, rows, pick).items()}
        if row["reader"] == "npz":
            (folder / (split + ".npz")).write_bytes(data.npz(made))
        for name, content in made.items() if row["reader"] != "npz" else ():
            (folder / ("%s.%s.npy" % (split, name))).write_bytes(content)


def lacks_loss(row):
    """Whether the training has a batch of which nothing counts, and no other term."""
    emptied = row["ignored"] == "a whole batch" or row["row_weights"] == "a batch of zeros"
    return emptied and row["losses"] == "one" and row["regularize"] == "none"
