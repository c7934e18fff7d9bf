#!/usr/bin/env python3
"""Makes scikit-learn's numbers for metrics of classes, of labels above a threshold or of every threshold, and of queries:
metrics.safetensors beside this file.

    python3 make_metrics.py              # needs scikit-learn and numpy; the stored file was made with scikit-learn 1.9.1
    python3 make_metrics.py 1000 FILE    # as many cases into another file, for HEDDLE_METRICS=FILE heddle_numeric_tests

A case is drawn rows and every metric of them. Scores are multiples of 1/64, so that some lie on the threshold. Its metadata hold the
model; its tensors are called CASE/NAME:

  in.s, in.t   scores and labels, of as many batches as the first axis is long, which is not the input's
  metric.I     the metric number I of all batches; nan where it is 0 / 0

ece is not scikit-learn's: the function here gives in float64 what binary_calibration_error and multiclass_calibration_error of
torchmetrics 1.9.0 give in float32, norm "l1".
"""
import json
import pathlib
import sys
import warnings

import numpy
import sklearn
import sklearn.metrics as m

from make_layers import write

HERE = pathlib.Path(__file__).parent
IGNORED = -100


def ratio(a, b):
    return a / b if b else float("nan")


def specificity(labels, found, average=None, which=None):
    """Of columns of labels: by multilabel_confusion_matrix."""
    tn, fp = (m.multilabel_confusion_matrix(labels, found)[:, 0, k].astype(float) for k in (0, 1))
    if which is not None:
        return ratio(tn[which], tn[which] + fp[which])
    if average == "micro":
        return ratio(tn.sum(), (tn + fp).sum())
    each = numpy.where(tn + fp > 0, tn / numpy.maximum(tn + fp, 1), 0.0)
    return each.mean() if average == "macro" else each


RATIOS = {"precision": m.precision_score, "recall": m.recall_score, "f1": m.f1_score, "iou": m.jaccard_score, "jaccard": m.jaccard_score}


def of_one(op, labels, found):
    """Of one column, the label 1; 0 / 0 is nan."""
    y, p = labels == 1, found == 1
    if op == "specificity":
        return ratio((~y & ~p).sum(), (~y).sum())
    nothing = {"precision": p.sum(), "recall": y.sum()}.get(op, (y | p).sum()) == 0
    return float("nan") if nothing else RATIOS[op](labels, found, zero_division=0)


def of_columns(op, labels, found, average):
    """Of columns with labels of 0 and 1."""
    if op == "specificity":
        return specificity(labels, found, average)
    if average == "micro":
        return of_one(op, labels.ravel(), found.ravel())
    return RATIOS[op](labels, found, average=None if average == "none" else average, zero_division=0)


def each_metric(labels, found, columns, extra):
    """(settings, value) of all metrics of columns of labels and what was found."""
    for op in [*RATIOS, "specificity"]:
        if columns == 1:
            yield {"op": op, **extra}, of_one(op, labels.ravel(), found.ravel())
            continue
        for average in ("micro", "macro", "none"):
            yield {"op": op, "average": average, **extra}, of_columns(op, labels, found, average)
        which = int(labels.sum()) % columns
        yield {"op": op, "class": which, **extra}, of_one(op, labels[:, which], found[:, which])


def of_labels(pick, rows, ignore):
    """Scores of one label, [N] or [N,1], or of several."""
    columns, threshold = int(pick.integers(1, 6)), float(pick.choice([0, 0.5, -0.25]))
    scores = pick.integers(-96, 97, (*rows, columns)) / 64
    labels = pick.random((*rows, columns)) < pick.choice([0, 0.05, 0.3, 0.5, 1])
    labels = labels.astype(int)
    y, p = labels.reshape(-1, columns), (scores > threshold).astype(int).reshape(-1, columns)
    extra = {"threshold": threshold}
    metrics = [({"op": "accuracy", **extra}, m.accuracy_score(y.ravel(), p.ravel()))]
    if columns > 1:
        metrics += [({"op": "accuracy", "subset": True, **extra}, m.accuracy_score(y, p)),
                    ({"op": "accuracy", "average": "none", **extra}, (y == p).mean(0)),
                    ({"op": "accuracy", "average": "macro", **extra}, 1 - m.hamming_loss(y, p))]
    metrics += each_metric(y, p, columns, extra)
    if columns == 1 and ignore:
        hidden = pick.random(labels.shape) < 0.2
        hidden.flat[0] = False
        keep = ~hidden.ravel()
        y, p = y[keep], p[keep]
        labels = numpy.where(hidden, IGNORED, labels)
        metrics = [({"op": "accuracy", **extra}, m.accuracy_score(y, p)), *each_metric(y, p, 1, extra)]
    narrow = [pick.random() < 0.5 for _ in range(2)]  # [N] for [N,1]
    if columns == 1:
        scores, labels = (v[..., 0] if one else v for v, one in zip((scores, labels), narrow))
    return scores, labels, metrics


def of_classes(pick, rows, ignore):
    """The largest of several scores: each class is a column."""
    classes = int(pick.integers(2, 6))
    scores = pick.integers(-4, 5, (*rows, classes)) / 2
    labels = pick.integers(0, max(1, classes - int(pick.integers(0, 2))), rows)
    hidden = pick.random(rows) < (0.2 if ignore else 0)
    hidden.flat[0] = False
    keep = ~hidden.ravel()
    y, p = labels.ravel()[keep], scores.reshape(-1, classes).argmax(1)[keep]
    columns = [(v[:, None] == numpy.arange(classes)).astype(int) for v in (y, p)]
    metrics = [({"op": "accuracy"}, m.accuracy_score(y, p)), *each_metric(*columns, classes, {})]
    return scores, numpy.where(hidden, IGNORED, labels), metrics


def calibration_error(confidence, right, bins):
    """Bins are [i / bins, (i + 1) / bins), and one more for a probability of 1."""
    place = numpy.searchsorted(numpy.linspace(0, 1, bins + 1), confidence, side="right") - 1
    off = numpy.bincount(place, right, bins + 1) - numpy.bincount(place, confidence, bins + 1)
    return ratio(numpy.abs(off).sum(), len(confidence))


def calibration_errors(pick, confidence, right):
    for bins in (None, int(pick.choice([1, 7, 10, 100]))):
        yield {"op": "ece", **({} if bins is None else {"bins": bins})}, calibration_error(confidence, right.astype(float), bins or 15)


def of_chances(pick, rows, ignore):
    """Of one score for each label: every threshold, and the probability itself. Neighbours among the scores lie in bins of their own."""
    shape = (*rows, *[(), (1,), (3,)][int(pick.integers(0, 3))])
    scores = pick.integers(-96, 97, shape) / 64
    labels = (pick.random(shape) < pick.choice([0, 0.1, 0.5, 1]) + 0.2 * (scores > 0)).astype(int)
    hidden = pick.random(shape) < (0.2 if ignore else 0)
    y, x = labels[~hidden], scores[~hidden]
    p, few = 1 / (1 + numpy.exp(-x)), int(pick.choice([2, 7, 64]))
    both = 0 < y.sum() < len(y)
    metrics = [({"op": "pr_auc"}, m.average_precision_score(y, x) if y.any() else float("nan")),
               ({"op": "pr_auc", "bins": few}, m.average_precision_score(y, numpy.floor(p * few)) if y.any() else float("nan")),
               ({"op": "auc"}, m.roc_auc_score(y, x) if both else float("nan")), *calibration_errors(pick, p, y)]
    return scores, numpy.where(hidden, IGNORED, labels), metrics


def of_confident_classes(pick, rows, ignore):
    classes = int(pick.integers(2, 6))
    scores = (pick.standard_normal((*rows, classes)) * pick.choice([1, 4])).astype(numpy.float32).astype(float)
    labels = numpy.where(pick.random(rows) < 0.4, scores.argmax(-1), pick.integers(0, classes, rows))
    hidden = pick.random(rows) < (0.2 if ignore else 0)
    y, x = labels[~hidden], scores[~hidden]
    e = numpy.exp(x - x.max(-1, keepdims=True))
    confidence = (e / e.sum(-1, keepdims=True)).max(-1) if len(x) else numpy.zeros(0)
    return scores, numpy.where(hidden, IGNORED, labels), list(calibration_errors(pick, confidence, x.argmax(-1) == y))


def mean_gain(scores, relevance, k):
    """Of the queries with a document; scikit-learn refuses those with one, and counts 0 where none is relevant."""
    values = []
    for s, t in zip(scores, relevance):
        there = t != IGNORED
        s, t = s[there], t[there]
        if len(t):
            values.append(m.ndcg_score(t[None], s[None], k=k) if len(t) > 1 else float(t[0] > 0))
    return numpy.mean(values) if values else float("nan")


def of_queries(pick, rows, ignore):
    documents, most = int(pick.integers(1, 13)), int(pick.choice([1, 4]))
    shape = (*rows, *([], [2])[int(pick.integers(0, 2))], documents)
    scores = pick.integers(-64, 65, shape) / 32 if pick.random() < 0.5 else pick.integers(0, 4, shape) / 4  # few or many are equal
    relevance = pick.integers(0, most + 1, shape) * (pick.random(shape) < pick.choice([0.2, 1]))
    hidden = pick.random(shape) < (0.4 if ignore else 0)
    labels = numpy.where(hidden, IGNORED, relevance)
    s, t = (v.reshape(-1, documents) for v in (scores, labels))
    metrics = []
    for k in (None, int(pick.integers(1, documents + 3))):
        for gain, value in (("linear", t), ("exponential", numpy.where(t == IGNORED, IGNORED, 2.0 ** t - 1))):
            settings = {**({} if k is None else {"k": k}), **({} if gain == "linear" else {"gain": gain})}
            metrics.append(({"op": "ndcg", **settings}, mean_gain(s, value, k)))
    return scores, labels, metrics


FAMILIES = [of_labels, of_labels, of_labels, of_classes, of_queries, of_chances, of_labels, of_confident_classes]


def case(number):
    pick = numpy.random.default_rng(number)
    rows = (int(pick.integers(1, 4)), int(pick.integers(1, 25)))
    scores, labels, metrics = FAMILIES[number % len(FAMILIES)](pick, rows, pick.random() < 0.3)
    shape = lambda v: ["N", *v.shape[2:]]
    nodes = [{"name": "w", "op": "param", "shape": [], "init": "ones"}, {"name": "p", "op": "mul", "in": ["s", "w"]},
             {"name": "one", "op": "mean", "in": "p"}]
    train = {"batch": {"N": rows[1]}, "steps": 1, "loss": {"op": "value", "in": "one"}, "optimizer": {"op": "sgd", "lr": 0},
             "metrics": [{**settings, "in": ["p", "t"]} for settings, _ in metrics]}
    model = {"format": "heddle-model/1", "name": "m", "inputs": {"s": {"shape": shape(scores)}, "t": {"shape": shape(labels), "dtype": "i32"}},
             "nodes": nodes, "outputs": {"o": "p"}, "train": train}
    tensors = {"in.s": scores.astype(float), "in.t": labels.astype(numpy.int64)}
    tensors.update({f"metric.{i}": numpy.atleast_1d(numpy.asarray(value, float)) for i, (_, value) in enumerate(metrics)})
    return model, tensors


def main():
    warnings.simplefilter("ignore")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    tensors, models, values = {}, {}, 0
    for number in range(count):
        model, of_case = case(number)
        models[f"case_{number}"] = json.dumps(model)
        tensors.update({f"case_{number}/{name}": v for name, v in of_case.items()})
        values += len(model["train"]["metrics"])
    path = sys.argv[2] if len(sys.argv) > 2 else HERE / "metrics.safetensors"
    write(path, tensors, {"note": f"scikit-learn {sklearn.__version__}, see make_metrics.py", **models})
    print(count, "cases", values, "metrics")


if __name__ == "__main__":
    main()
