"""What models of sequences are composed of: SETTINGS name the values that each part of a training may have, `model` writes a row of them.

Tokens [6] go through a table and positions, then through a block with a recurrent layer, a scan and attention; each predicts the next one.
They are windows over a text (plain, drawn anew in each epoch, packed documents, strands of a text that goes on), or rows that have lengths.
"""
import random

import data
import settings

TRAIN = {"whole": 24, "ragged": 26, "ragged, dropped": 26}  # rows, of batches of 8
BATCH, EPOCHS, LENGTH, WIDTH = 8, 3, 6, 8
LETTERS = "abcdefgh \n"
VOCAB = len(LETTERS)
SAVED_EVERY = 5  # steps: within an epoch, which has three or four

SETTINGS = {
    "text": ["windows", "drawn", "packed", "strands", "lengths", "buckets", "masked"],
    "rows": list(TRAIN),
    "validation": ["none", "fraction", "rows"],
    "recurrent": ["none", "lstm", "projected lstm", "gru", "gru, reset before", "rnn", "two layers", "two ways"],
    "stateful": ["no", "yes"],
    "scan": ["none", "cell", "reverse", "dropout and index", "two carries", "scan in a scan"],
    "attention": ["none", "causal", "window", "slopes and cap", "grouped", "dropout", "bias", "multi_head", "encoder_layer"],
    "positions": ["none", "learned", "sinusoidal", "rotary"],
    "dropout": ["none", "elements"],
    "repeat": ["none", "block", "index"],
    "memory": ["kept", "recomputed", "by name"],
    "accumulate": [1, 2, 4],
    "precision": ["f32", "bf16", "f16", "f16, a number"],
    "tied": ["none", "table"],
    "words": ["plain", "sparse", "frozen"],
    "loss": ["cross_entropy", "nll", "smoothing"],
    "row_weights": ["none", "given", "a batch of zeros"],
    "losses": ["one", "and a value"],
    "metrics": ["of tokens", "of sequences", "of lengths"],
    "optimizer": ["sgd", "momentum", "adam", "adamw", "rmsprop", "lion", "lamb"],
    "schedule": ["number", "cosine", "one_cycle", "plateau", "step"],
    "groups": ["none", "biases"],
    "average": ["none", "from the first step", "from the fourth"],
    "clip": ["none", "norm"],
    "gradient_norm": ["untold", "told"],
    "regularize": ["none", "l2"],
    "constrain": ["none", "norms"],
    "decay": ["none", "all", "matrices"],
    "freeze": ["none", "biases"],
}
OF_TABLE = ("lengths", "buckets")  # rows of their own; the others are windows over a text


def allowed(row):
    """What the documents rule out, of a row or of a part of one."""
    has = lambda name, *values: row.get(name) in values  # noqa: E731
    lacks = lambda name, *values: name in row and row[name] not in values  # noqa: E731
    if has("stateful", "yes") and (lacks("text", "strands") or has("recurrent", "none", "two ways") or not allowed({**row, "text": "strands", "stateful": "no"})):
        return False
    if has("text", "drawn", "strands") and has("validation", "fraction"):  # no rows are drawn out of these
        return False
    if has("text", "strands") and has("rows", "ragged", "ragged, dropped"):  # strands have equally many windows
        return False
    if has("row_weights", "given", "a batch of zeros") and lacks("text", *OF_TABLE):
        return False
    if has("metrics", "of lengths") and lacks("text", *OF_TABLE):
        return False
    if has("words", "sparse") and (has("average", "from the first step", "from the fourth") or has("decay", "all", "matrices")
                                   or has("tied", "table") or has("regularize", "l2") or "optimizer" in row
                                   and row["optimizer"] not in settings.SPARSE_RULES):
        return False
    return not (has("positions", "rotary") and has("attention", "none", "multi_head", "encoder_layer"))  # which turns queries and keys


def recurrent(row):
    kind = row["recurrent"]
    if kind == "none":
        return [], "normed"
    op = {"lstm": "lstm", "projected lstm": "lstm", "two layers": "lstm", "rnn": "rnn"}.get(kind, "gru")
    given = {"x": "normed", **({"size": "size"} if row["text"] in OF_TABLE else {})}
    node = {"name": "rnn", "op": op, "in": given, "units": WIDTH, "out": ["states", "last"] + (["cell"] if op == "lstm" else [])}
    node.update({"projected lstm": {"units": 12, "projection": WIDTH}, "gru, reset before": {"reset": "before", "init": "keras"},
                 "two layers": {"layers": 2, "dropout": 0.25}, "two ways": {"units": WIDTH // 2, "bidirectional": True},
                 "rnn": {"bias": "single"}}.get(kind, {}))
    if row["stateful"] == "yes":
        node["stateful"] = True
    return [node], "states"


def scan(row, given):
    kind = row["scan"]
    if kind == "none":
        return [], given
    node = {"name": "turns", "op": "scan", "block": "cell", "in": {"x": given}, "slice": ["x"], "carry": {"h": ["N", WIDTH]}, "out": ["left", "seen"]}
    if kind == "reverse":
        node["reverse"] = True
    if kind == "dropout and index":
        node["index"] = "t"
    if kind == "two carries":
        node.update(carry={"h": ["N", WIDTH], "c": ["N", WIDTH]}, next={"h": "next", "c": "sum"}, out=["left", "left_sum", "seen"])
    return [node], "seen"


def cells(row):
    start = [{"name": "of_x", "op": "dense", "in": "x", "units": WIDTH}, {"name": "of_h", "op": "dense", "in": "h", "units": WIDTH, "bias": False}]
    nodes, inputs = [*start, {"name": "sum", "op": "add", "in": ["of_x", "of_h"]}, {"name": "next", "op": "tanh"}], ["x", "h"]
    if row["scan"] == "dropout and index":
        inputs.append("t")
        nodes[3:] = [{"op": "dropout", "rate": 0.25}, {"name": "bent", "op": "tanh"}, {"name": "later", "op": "cast", "in": "t", "dtype": "f32"},
                     {"name": "part", "op": "mul", "in": ["later", 0.125]}, {"name": "next", "op": "add", "in": ["bent", "part"]}]
    if row["scan"] == "two carries":
        inputs.append("c")
        nodes[2:] = [{"name": "both", "op": "add", "in": ["of_x", "of_h"]}, {"name": "half", "op": "mul", "in": ["c", 0.5]},
                     {"name": "sum", "op": "add", "in": ["both", "half"]}, {"name": "next", "op": "tanh"}]
    out = {"cell": {"inputs": inputs, "nodes": nodes, "output": "next"}}
    if row["scan"] == "scan in a scan":
        nodes[3:] = [{"name": "twice", "op": "scan", "block": "inner", "count": 2, "in": {"x": "sum"}, "carry": {"h": "h"}, "stack": [], "out": ["next"]}]
        inner = [{"name": "w", "op": "dense", "in": "h", "units": WIDTH}, {"name": "s", "op": "add", "in": ["x", "w"]}, {"name": "y", "op": "tanh"}]
        out["inner"] = {"inputs": ["x", "h"], "nodes": inner, "output": "y"}
    return out


def attention(row, given):
    kind = row["attention"]
    if kind == "none":
        return [], given
    seen = {"lengths": "size"} if row["text"] in OF_TABLE else {"documents": "document"} if row["text"] == "packed" else {}
    # A bias of keys has the gradient 0, of which rules that divide a gradient by its own size make noise of the size of a step.
    layer = {"name": "looked", "heads": 2, "causal": True, "bias": row["optimizer"] in ("sgd", "momentum")}
    if kind == "multi_head":
        return [{**layer, "op": "multi_head_attention", "in": {"q": given, **seen}}], "looked"
    if kind == "encoder_layer":
        return [{**layer, "op": "encoder_layer", "in": {"x": given, **seen}, "feedforward": 12, "dropout": 0.25}], "looked"
    keys = WIDTH // 2 if kind == "grouped" else WIDTH
    nodes = [{"name": "q", "op": "dense", "in": given, "units": WIDTH}, {"name": "k", "op": "dense", "in": given, "units": keys, "bias": False},
             {"name": "v", "op": "dense", "in": given, "units": keys}]
    q, k = "q", "k"
    if row["positions"] == "rotary":
        positions = {"positions": "place"} if row["text"] == "packed" else {}
        nodes += [{"name": "q_turned", "op": "rotary", "in": {"x": q, **positions}, "heads": 2},
                  {"name": "k_turned", "op": "rotary", "in": {"x": k, **positions}, "heads": 1 if kind == "grouped" else 2}]
        q, k = "q_turned", "k_turned"
    node = {"name": "looked", "op": "attention", "in": {"q": q, "k": k, "v": "v", **seen}, "heads": 2, "causal": True}
    node.update({"window": {"window": 3}, "slopes and cap": {"alibi": True, "soft_cap": 2}, "grouped": {"kv_heads": 1},
                 "dropout": {"dropout": 0.25, "causal": False}}.get(kind, {}))
    if kind == "bias":
        nodes.append({"name": "near", "op": "relative_positions", "in": given, "heads": 2, "buckets": 4, "distance": 6})
        node["in"]["bias"] = "near"
    return [*nodes, node], "looked"


def block(row):
    first, given = recurrent(row)
    second, seen = scan(row, given)
    third, looked = attention(row, seen)
    nodes = [{"name": "normed", "op": "layer_norm", "in": "x"}, *first, *second, *third]
    if row["dropout"] == "elements":
        nodes.append({"name": looked + "_dropped", "op": "dropout", "in": looked, "rate": 0.25})
        looked += "_dropped"
    if row["repeat"] == "index":
        nodes += [{"name": "by_turn", "op": "elu", "in": looked, "alpha": "1/(1.0+i)"}]
        looked = "by_turn"
    return {"inputs": ["x", *extra(row)], "nodes": [*nodes, {"name": "y", "op": "add", "in": ["x", looked]}], "output": "y"}


def extra(row):
    """What the block reads beside the sequence."""
    if row["text"] in OF_TABLE and (row["recurrent"] != "none" or row["attention"] != "none"):
        return ["size"]
    if row["text"] == "packed" and row["attention"] != "none":
        return ["document"] + (["place"] if row["positions"] == "rotary" else [])
    return []


def body(row):
    node = {"name": "body", "op": "block:turn", "in": {"x": "placed", **{name: name for name in extra(row)}}}
    if row["repeat"] != "none":
        node["repeat"] = 2
    if row["repeat"] == "index":
        node["with"] = {"i": "index"}
    if row["memory"] == "recomputed":
        node["recompute"] = True
    return node


def nodes(row):
    table = {"name": "table", "op": "embedding", "in": "tokens", "vocab": VOCAB, "units": WIDTH, **({"sparse": True} if row["words"] == "sparse" else {})}
    given = {"x": "table", **({"positions": "place"} if row["text"] == "packed" else {})}
    placed = {"learned": {"op": "learned_positions", "in": given, "length": LENGTH}, "sinusoidal": {"op": "sinusoidal_positions", "in": given}}
    out = [table, {"name": "placed", **placed.get(row["positions"], {"op": "mul", "in": ["table", 1.5]})}, body(row)]
    if row["tied"] == "table":
        out.append({"name": "logits", "op": "matmul", "in": ["body", "table.weight"], "transpose_b": True})
    else:
        out.append({"name": "logits", "op": "dense", "in": "body", "units": VOCAB})
    return [*out, {"name": "log_probs", "op": "log_softmax"}, {"name": "squares", "op": "mul", "in": ["logits", "logits"]}, {"name": "size_of", "op": "mean"}]


def losses(row):
    op = {"smoothing": "cross_entropy"}.get(row["loss"], row["loss"])
    first = {"op": op, "in": ["log_probs" if op == "nll" else "logits", "targets"]}
    if row["loss"] == "smoothing":
        first["label_smoothing"] = 0.1
    if row["row_weights"] != "none":
        first["weights"] = "weight"
    return {"one": first, "and a value": [first, {"op": "value", "in": "size_of", "weight": 0.01}]}[row["losses"]]


def metrics(row):
    given = ["logits", "targets"]
    if row["precision"] != "f32" and row["metrics"] != "of tokens":  # of which a token that 16 bits tell otherwise changes one row, and no more
        lengths = ["size", "size"] if row["metrics"] == "of lengths" else []
        return [{"op": "exact_match", "in": [*given, *lengths]}, {"op": "bits_per_character", "in": given}]
    return {"of tokens": [{"op": "accuracy", "in": given}, {"op": "perplexity", "in": given}],
            "of sequences": [{"op": "exact_match", "in": given}, {"op": "bleu", "in": given}, {"op": "bits_per_character", "in": given}],
            "of lengths": [{"op": "rouge_l", "in": [*given, "size", "size"]}, {"op": "character_error_rate", "in": given}]}[row["metrics"]]


def inputs(row):
    out = {"tokens": {"shape": ["N", "length"], "dtype": "i32"}, "targets": {"shape": ["N", "length"], "dtype": "i32"}}
    if row["text"] == "packed":
        out.update(document={"shape": ["N", "length"], "dtype": "i32"}, place={"shape": ["N", "length"], "dtype": "i32"})
    if row["text"] in OF_TABLE:
        out["size"] = {"shape": ["N"], "dtype": "i32"}
    if row["row_weights"] != "none":
        out["weight"] = {"shape": ["N"]}
    return out


def reader(row, split):
    if row["text"] in OF_TABLE:
        return {"op": "npz", "file": split + ".npz", **{name: name for name in inputs(row)}}
    out = {"op": "tokens", "file": split + ".txt", "tokens": "window", "targets": "next"}
    if row["text"] == "packed":
        out.update(documents="lines", document="document", place="position")
    if row["text"] == "drawn" and split == "train":
        out["offsets"] = "drawn"
    if row["text"] == "strands" and split == "train":
        out["strands"] = BATCH
    if row["text"] == "masked":
        out.update(targets="window")
    return out


def model(row, number):
    train = {"batch": {"N": BATCH}, "epochs": EPOCHS, "seed": number, "loss": losses(row), "metrics": metrics(row), "optimizer": settings.optimizer(row),
             "checkpoint": {"every": {"steps": SAVED_EVERY}, "keep": 100}}
    if row["accumulate"] > 1:
        train["accumulate"] = row["accumulate"]
    if row["memory"] == "by name":
        train["memory"] = {"recompute": ["body" if row["repeat"] == "none" else "body.*"]}
    precision = {"bf16": {"mixed": "bf16"}, "f16": {"mixed": "f16", "loss_scale": {"initial": 256, "interval": 3}},
                 "f16, a number": {"mixed": "f16", "loss_scale": 64}}.get(row["precision"])
    if precision:
        train["precision"] = precision
    if row["average"] != "none":
        train["average"] = {"decay": 0.8, "start": 0 if row["average"] == "from the first step" else 4}
    if row["clip"] == "norm":
        train["clip_norm"] = 0.2
    if row["gradient_norm"] == "told":
        train["gradient_norm"] = True
    if row["regularize"] != "none":
        train["regularize"] = [{"op": "l2", "match": "*", "weight": 0.01}]
    if row["constrain"] != "none":
        train["constrain"] = [{"op": "max_norm", "match": "*.weight*", "max": 0.9}]
    if row["rows"] == "ragged, dropped":
        train["drop_last"] = True
    freeze = (["table.weight"] if row["words"] == "frozen" else []) + (["*bias*"] if row["freeze"] == "biases" else [])
    if freeze:
        train["freeze"] = freeze
    given = {"train": reader(row, "train"), "test": reader(row, "test")}
    if row["validation"] != "none":
        given["validation"] = {"fraction": 0.2} if row["validation"] == "fraction" else reader(row, "validation")
    if row["text"] == "buckets":
        given["buckets"] = {"by": "size", "let": "length", "lengths": [3, 4]}
    if row["text"] == "masked":
        given["map"] = {"tokens": [{"op": "mask_tokens", "mask": 0, "targets": "targets", "rate": 0.4, "vocab": VOCAB, "special": [0]}]}
    return {"format": "heddle-model/1", "name": "sequences_%d" % number, "let": {"length": LENGTH}, "inputs": inputs(row),
            "blocks": {"turn": block(row), **(cells(row) if row["scan"] != "none" else {})}, "nodes": nodes(row), "outputs": {"logits": "logits"},
            "train": train, "data": given}


# --- the rows ---

COUNTED = (0, 5)  # of more batches than there are of these rows one has no weight


def table(row, rows, pick):
    """Rows of tokens behind which there is none: targets are -100 there."""
    sizes = [pick.randrange(1, LENGTH + 1) for _ in range(rows)]
    tokens = [[pick.randrange(VOCAB) if at < size else 0 for at in range(LENGTH)] for size in sizes]
    targets = [[pick.randrange(VOCAB) if at < size else -100 for at in range(LENGTH)] for size in sizes]
    out = {"tokens": data.npy("i32", [rows, LENGTH], sum(tokens, [])), "targets": data.npy("i32", [rows, LENGTH], sum(targets, [])),
           "size": data.npy("i32", [rows], sizes)}
    if row["row_weights"] != "none":
        zeros = row["row_weights"] == "a batch of zeros"
        out["weight"] = data.npy("f32", [rows], [0.0 if zeros and i not in COUNTED else pick.uniform(0.5, 2) for i in range(rows)])
    return data.npz(out)


def write_rows(row, folder, number):
    pick = random.Random(1000 + number)
    for split, rows in settings.splits(row, TRAIN):
        if row["text"] in OF_TABLE:
            (folder / (split + ".npz")).write_bytes(table(row, rows, pick))
            continue
        # Each letter is there, so that every text has the same tokens; and one more than the windows, which the last one predicts.
        text = LETTERS + "".join(pick.choice(LETTERS) for _ in range(rows * LENGTH + 1 - VOCAB))
        (folder / (split + ".txt")).write_text(text)


def lacks_loss(row):
    """Whether the training has a batch of which nothing counts, and no other term."""
    emptied = row["row_weights"] == "a batch of zeros" and row["text"] == "lengths" and row["accumulate"] == 1
    return emptied and row["losses"] == "one" and row["regularize"] == "none"
