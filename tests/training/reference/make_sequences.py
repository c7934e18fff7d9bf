#!/usr/bin/env python3
"""Makes the numbers of public implementations for the loss ctc and for metrics of sequences: sequences.safetensors beside this file.

    python3 make_sequences.py              # torch 2.15.0, sacrebleu 2.6.0, jiwer 4.0.0 and rouge-score 0.1.2 made the stored file
    python3 make_sequences.py 1000 FILE    # as many rows of each kind into another file, for HEDDLE_SEQUENCES=FILE heddle_numeric_tests

The metadata hold each case's model. Its tensors are called CASE/NAME:

  in.INPUT   an input: of as many batches as the first axis is long, which is not the input's
  start.p    of a loss: the parameter, loss its value, and grad.p its gradients: the model descends by them, with a rate of 1
  metric.I   the metric number I: of each batch alone, then of all batches together

Where no steps spell a target, PyTorch's gradient is nan; what is stored is the 0 that zero_infinity has.
"""
import collections
import json
import math
import pathlib
import random
import sys

import jiwer
import numpy
import sacrebleu
import torch
from rouge_score import rouge_scorer
from torch.nn import functional as F

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
PICK = random.Random(28)
CASES = {}  # name -> (model, tensors)
IGNORED, SPACE, END = -100, 3, 5


def add(kind, batch, inputs, nodes, train, tensors):
    name = f"{kind}_{sum(other.rsplit('_', 1)[0] == kind for other in CASES)}"
    described = {n: {"shape": ["N", *v.shape[2:]], "dtype": "f32" if v.dtype == torch.float64 else "i32"} for n, v in inputs.items()}
    model = {"format": "heddle-model/1", "name": "m", "inputs": described, "nodes": nodes, "outputs": {"o": nodes[-1]["name"]},
             "train": {"batch": {"N": batch}, "steps": 1, **train}}
    CASES[name] = model, {**{"in." + n: v for n, v in inputs.items()}, **tensors}


# The loss.

def ctc(shape, targets, settings, steps=None, lengths=None, weights=None, scale=1.0):
    """Logits [N, T, C]; lengths of steps and targets are given, or all steps and the targets that are not ignored."""
    n, t, _ = shape
    x = f32(torch.randn(shape, generator=torch.Generator().manual_seed(len(CASES))).double() * scale)
    y = torch.tensor(targets)
    steps_of = torch.tensor(steps) if steps else torch.full((n,), t)
    lengths_of = torch.tensor(lengths) if lengths else (y != IGNORED).sum(1)
    names = ["x", "y"] + (["steps"] if steps or lengths else []) + (["lengths"] if lengths else [])
    w = torch.tensor(weights).double() if weights else torch.ones(n).double()

    def value(p, zero):
        cost = F.ctc_loss(p.log_softmax(-1).transpose(0, 1), y.clamp(min=0), steps_of, lengths_of, blank=settings.get("blank", 0),
                          reduction="none", zero_infinity=zero)
        if settings.get("reduction", "mean") == "mean":
            cost = cost / lengths_of.clamp(min=1)
        return torch.where(w > 0, cost * w, 0 * cost.nan_to_num(posinf=0)).sum() / w.sum()

    p = x.clone().requires_grad_()
    value(p, True).backward()
    inputs = {"z": torch.zeros(1, *shape).double(), "y": y[None].int(), "steps": steps_of[None].int(), "lengths": lengths_of[None].int(), "w": w[None]}
    inputs = {k: v for k, v in inputs.items() if k == "z" or k in names or (k == "w" and weights)}
    nodes = [{"name": "p", "op": "param", "shape": list(shape)}, {"name": "x", "op": "add", "in": ["z", "p"]}]
    given = {"op": "ctc", "in": names, **settings, **({"weights": "w"} if weights else {})}
    add("loss_ctc", n, inputs, nodes, {"loss": given, "optimizer": {"op": "sgd", "lr": 1}},
        {"start.p": x, "loss": value(x, settings.get("zero_infinity", False)), "grad.p": p.grad})


def losses():
    yes = {"zero_infinity": True}
    ctc((2, 6, 4), [[1, 2, 3], [3, 1, 2]], {})
    ctc((2, 6, 4), [[1, 2, 3], [3, 1, 2]], {"reduction": "rows"})
    ctc((3, 8, 5), [[1, 1, 2], [2, 2, 2], [3, 4, 4]], {})  # repeats need a blank between
    ctc((3, 8, 5), [[0, 1, 1], [4, 0, 4], [1, 1, 1]], {"blank": 2})
    ctc((3, 8, 5), [[0, 1, 1], [3, 0, 3], [1, 1, 1]], {"blank": 4}, steps=[8, 5, 6])
    ctc((4, 5, 3), [[1, 2], [1, IGNORED], [IGNORED, IGNORED], [2, 2]], {})  # empty and shorter targets
    ctc((4, 5, 3), [[1, 2], [1, 0], [0, 0], [2, 2]], {}, steps=[5, 2, 4, 3], lengths=[2, 1, 0, 2])
    ctc((2, 1, 3), [[1], [2]], {})  # one step
    ctc((3, 1, 3), [[1, 2], [2, 1], [1, 1]], yes, steps=[1, 1, 1], lengths=[1, 2, 0])
    for settings in ({}, yes, {"reduction": "rows"}, {"reduction": "rows", **yes}):  # rows without steps, and with too few
        ctc((5, 4, 3), [[1, 2], [1, 1], [2, 1], [1, 0], [1, 1]], settings, steps=[4, 2, 0, 0, 3], lengths=[2, 2, 1, 0, 2])
    ctc((3, 7, 4), [[1, 2, 1], [3, 3, 3], [2, 1, 3]], {}, weights=[0.5, 2, 0])
    ctc((3, 7, 4), [[1, 2, 1], [3, 3, 3], [2, 1, 3]], {}, steps=[7, 7, 1], lengths=[3, 3, 3], weights=[0.5, 2, 0])  # nothing of inf
    ctc((2, 30, 12), [[PICK.randint(1, 11) for _ in range(10)] for _ in range(2)], {}, scale=30)  # far from even
    for k in range(8):
        n, t, c, s = PICK.randint(1, 6), PICK.randint(2, 40), PICK.randint(2, 20), PICK.randint(1, 12)
        blank = PICK.randrange(c)
        labels = [v for v in range(c) if v != blank]
        targets = [[PICK.choice(labels) for _ in range(s)] for _ in range(n)]
        settings = {"blank": blank, "zero_infinity": k % 4 != 3}
        ctc((n, t, c), targets, settings, [PICK.randint(0, t) for _ in range(n)], [PICK.randint(0, s) for _ in range(n)], scale=3)


# Metrics of tokens: rows are lists of them.

def edits(a, b):
    """Levenshtein's distance, row by row; jiwer's where it takes the row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        above, row = row, [i + 1]
        for j, y in enumerate(b):
            row.append(min(above[j + 1] + 1, row[j] + 1, above[j] + (x != y)))
    if b:
        found = jiwer.process_words(text(b), text(a))
        assert row[-1] == found.substitutions + found.deletions + found.insertions, (a, b)
    return row[-1]


def text(tokens):
    return " ".join(f"w{t}" for t in tokens)


def words(tokens):
    """As numbers, equal ones for equal words."""
    groups = "".join(" " if t == SPACE else chr(97 + t) for t in tokens).split()
    return [int.from_bytes(g.encode(), "big") for g in groups]


def rate(pairs):
    length = sum(len(b) for _, b in pairs)
    return sum(edits(a, b) for a, b in pairs) / length if length else (math.inf if any(a for a, _ in pairs) else math.nan)


def bleu(pairs, **settings):
    if not pairs:
        return 0.0
    return sacrebleu.metrics.BLEU(tokenize="none", force=True, **settings).corpus_score([text(a) for a, _ in pairs], [[text(b) for _, b in pairs]]).score / 100


SCORER = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)


def rouge(pairs):
    return sum(SCORER.score(text(b), text(a))["rougeL"].fmeasure for a, b in pairs) / len(pairs) if pairs else math.nan


METRICS = [
    ({"op": "character_error_rate"}, rate),
    ({"op": "word_error_rate"}, rate),
    ({"op": "word_error_rate", "space": SPACE}, lambda pairs: rate([(words(a), words(b)) for a, b in pairs])),
    ({"op": "exact_match"}, lambda pairs: sum(a == b for a, b in pairs) / len(pairs) if pairs else math.nan),
    ({"op": "bleu"}, bleu),
    ({"op": "bleu", "smoothing": "none"}, lambda pairs: bleu(pairs, smooth_method="none")),
    ({"op": "bleu", "order": 2}, lambda pairs: bleu(pairs, max_ngram_order=2)),
    ({"op": "rouge_l"}, rouge),
]


def changed(tokens, vocab):
    """Some tokens left out, replaced, and put in."""
    share, out = PICK.choice([0, 0.1, 0.3, 0.8]), []
    for t in tokens:
        what = PICK.random() / share if share else 9
        out += [] if what < 0.33 else [PICK.choice(vocab)] if what < 0.66 else [t, PICK.choice(vocab)] if what < 1 else [t]
    return out


def padded(rows, size, fill):
    return torch.tensor([[*r, *[fill] * (size - len(r))] for r in rows]).int()


def one_hot(ids, classes):
    return f32(torch.randn(*ids.shape, classes).double().clamp(-2, 2) + 9 * F.one_hot(ids.long(), classes))


def spelled(tokens, steps, blank):
    """Steps that decode to the tokens: each once or twice, a blank between equal ones and at will."""
    out = []
    for i, t in enumerate(tokens):
        out += [blank] * (PICK.random() < 0.3 or (i > 0 and tokens[i - 1] == t)) + [t] * PICK.randint(1, 2)
    out += [blank] * PICK.randint(0, 2)
    assert len(out) <= steps
    return out


def batches(rows, batch):
    return torch.stack([v for v in torch.as_tensor(rows).reshape(-1, batch, *torch.as_tensor(rows).shape[1:])])


def sequences(kind, pairs, settings, names, inputs, batch):
    """`pairs` are tokens as the metrics should see them; None is a row that does not count."""
    values = []
    for _, function in METRICS:
        each = [function([p for p in pairs[i:i + batch] if p]) for i in range(0, len(pairs), batch)]
        values.append(each + [function([p for p in pairs if p])])
    nodes = [{"name": "s", "op": "param", "shape": []}, {"name": "square", "op": "mul", "in": ["s", "s"]}]
    train = {"loss": {"op": "value", "in": "square"}, "optimizer": {"op": "sgd", "lr": 0},
             "metrics": [{**given, "in": names, **settings} for given, _ in METRICS]}
    add("sequences_" + kind, batch, {n: batches(v, batch) for n, v in inputs.items()}, nodes, train,
        {f"metric.{i}": torch.tensor(v, dtype=torch.float64) for i, v in enumerate(values)})


def rows_of_tokens(rows, size, vocab, most):
    labels = [[PICK.choice(vocab) for _ in range(PICK.randint(0 if PICK.random() < 0.1 else 1, size))] for _ in range(rows)]
    return [(changed(b, vocab)[:most], b) for b in labels]


def metrics_of_sequences(rows):
    torch.manual_seed(28)
    vocab, classes, blank, batch = [0, 1, 2, SPACE, 4], 6, 5, 4
    # Class numbers, and what they are padded with. A row of padding alone does not count.
    pairs = rows_of_tokens(rows, 9, vocab, 11)
    inputs = {"p": padded([a for a, _ in pairs], 11, IGNORED), "y": padded([b for _, b in pairs], 9, IGNORED)}
    sequences("ids", [(a, b) if b else None for a, b in pairs], {}, ["p", "y"], inputs, batch)
    # An end, behind which anything may stand, or no end in a full row.
    pairs = rows_of_tokens(rows, 8, vocab, 8)
    ended = lambda t, size: (t + [END] + [PICK.choice(vocab + [END]) for _ in range(size)])[:size]
    inputs = {"p": torch.tensor([ended(a, 8) for a, _ in pairs]).int(), "y": torch.tensor([ended(b, 8) for _, b in pairs]).int()}
    sequences("end", pairs, {"end": END}, ["p", "y"], inputs, batch)
    # Lengths.
    pairs = rows_of_tokens(rows, 9, vocab, 10)
    filled = lambda t, size: (t + [PICK.choice(vocab) for _ in range(size)])[:size]
    inputs = {"p": torch.tensor([filled(a, 10) for a, _ in pairs]).int(), "y": torch.tensor([filled(b, 9) for _, b in pairs]).int(),
              "pl": torch.tensor([len(a) for a, _ in pairs]).int(), "yl": torch.tensor([len(b) for _, b in pairs]).int()}
    sequences("lengths", pairs, {}, ["p", "y", "pl", "yl"], inputs, batch)
    # Logits of each label; labels that are ignored stand in front, between and behind.
    ids = torch.tensor([[PICK.choice(vocab) for _ in range(9)] for _ in range(rows)])
    found = torch.where(torch.rand(ids.shape) < 0.2, torch.randint(5, ids.shape), ids)
    y = torch.where(torch.rand(ids.shape) < 0.25, IGNORED, ids)
    y[0] = IGNORED
    pairs = [([int(v) for v, l in zip(a, b) if l != IGNORED], [int(l) for l in b if l != IGNORED]) for a, b in zip(found, y)]
    sequences("logits", [(a, b) if b else None for a, b in pairs], {}, ["p", "y"], {"p": one_hot(found, classes), "y": y.int()}, batch)
    # Steps of a CTC network, as logits with lengths and as class numbers.
    ctc_vocab, ctc_blank = [1, 2, SPACE, 4, 5], 0
    pairs = rows_of_tokens(rows, 7, ctc_vocab, 8)
    steps = [spelled(a, 26, ctc_blank) for a, _ in pairs]
    more = [(s + [PICK.randrange(6) for _ in range(26)])[:26] for s in steps]
    inputs = {"p": one_hot(torch.tensor(more), classes), "y": padded([b for _, b in pairs], 7, 0), "pl": torch.tensor([len(s) for s in steps]).int(),
              "yl": torch.tensor([len(b) for _, b in pairs]).int()}
    sequences("ctc", pairs, {"decode": {"op": "ctc_greedy", "blank": ctc_blank}}, ["p", "y", "pl", "yl"], inputs, batch)
    pairs = rows_of_tokens(rows, 7, vocab, 7)
    inputs = {"p": padded([spelled(a, 24, blank) for a, _ in pairs], 24, blank), "y": padded([b for _, b in pairs], 7, IGNORED)}
    sequences("ctc_ids", [(a, b) if b else None for a, b in pairs], {"decode": {"op": "ctc_greedy", "blank": blank}}, ["p", "y"], inputs, batch)


# Metrics of spans and of characters.

def span_f1(a, b):
    """SQuAD's, of bags of places."""
    one, two = (collections.Counter(range(s[0], s[1] + 1)) for s in (a, b))
    if not one or not two:
        return float(one == two)
    common = sum((one & two).values())
    return 2 * common / (sum(one.values()) + sum(two.values()))


def best_span(first, last, most):
    pairs = [(first[i] + last[j], -i, -j) for i in range(len(first)) for j in range(i, min(len(first), i + most))]
    _, i, j = max(pairs)
    return -i, -j


def metrics_of_spans(rows):
    batch, size = 4, 11
    for most in (None, 3):
        first, last = (f32(torch.randn(rows, size, generator=torch.Generator().manual_seed(k)).double()) for k in (1, 2))
        starts = [PICK.randrange(size) for _ in range(rows)]
        spans = [(s, min(size - 1, s + PICK.randrange(5))) for s in starts]
        for row in range(0, rows, 2):  # likely ones
            first[row, spans[row][0]] += 3
            last[row, spans[row][1]] += 3
        counts = [PICK.random() > 0.1 for _ in range(rows)]
        found = [best_span(a.tolist(), b.tolist(), most or size) for a, b in zip(first, last)]
        functions = [lambda i: span_f1(found[i], spans[i]), lambda i: float(found[i] == spans[i])]
        values = []
        for function in functions:
            mean = lambda of: numpy.mean([function(i) for i in of if counts[i]]) if any(counts[i] for i in of) else math.nan
            values.append([mean(range(k, k + batch)) for k in range(0, rows, batch)] + [mean(range(rows))])
        inputs = {"p": first, "q": last, "a": torch.tensor([s if c else IGNORED for (s, _), c in zip(spans, counts)]).int(), "b": torch.tensor([e for _, e in spans]).int()}
        nodes = [{"name": "s", "op": "param", "shape": []}, {"name": "square", "op": "mul", "in": ["s", "s"]}]
        settings = {"max_length": most} if most else {}
        train = {"loss": {"op": "value", "in": "square"}, "optimizer": {"op": "sgd", "lr": 0},
                 "metrics": [{"op": op, "in": ["p", "q", "a", "b"], **settings} for op in ("span_f1", "span_exact_match")]}
        add("span", batch, {n: batches(v, batch) for n, v in inputs.items()}, nodes, train,
            {f"metric.{i}": torch.tensor(v, dtype=torch.float64) for i, v in enumerate(values)})


def metrics_of_characters(rows):
    batch = 4
    x = f32(torch.randn(rows, 6, 7, generator=torch.Generator().manual_seed(3)).double() * 2)
    y = torch.randint(7, (rows, 6), generator=torch.Generator().manual_seed(4))
    y[torch.rand(y.shape, generator=torch.Generator().manual_seed(5)) < 0.2] = IGNORED
    mean = lambda a, b: (F.cross_entropy(a.reshape(-1, 7), b.reshape(-1)) / math.log(2)).item()
    values = [mean(x[k:k + batch], y[k:k + batch]) for k in range(0, rows, batch)] + [mean(x, y)]
    nodes = [{"name": "s", "op": "param", "shape": []}, {"name": "square", "op": "mul", "in": ["s", "s"]}]
    train = {"loss": {"op": "value", "in": "square"}, "optimizer": {"op": "sgd", "lr": 0}, "metrics": [{"op": "bits_per_character", "in": ["x", "y"]}]}
    add("characters", batch, {"x": batches(x, batch), "y": batches(y.int(), batch)}, nodes, train, {"metric.0": torch.tensor(values, dtype=torch.float64)})


def main():
    rows, path = (int(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else (24, HERE / "sequences.safetensors")
    losses()
    metrics_of_sequences(rows)
    metrics_of_spans(rows)
    metrics_of_characters(rows)
    metadata = {"note": f"made by make_sequences.py with torch {torch.__version__.split('+')[0]}, sacrebleu {sacrebleu.__version__}, {rows} rows of each kind"}
    tensors = {}
    for name, (model, parts) in CASES.items():
        metadata[name] = json.dumps(model)
        for part, v in parts.items():
            v = v.detach()
            tensors[f"{name}/{part}"] = (v.double() if v.is_floating_point() else v.long()).numpy()
    write(path, tensors, metadata)


if __name__ == "__main__":
    main()
