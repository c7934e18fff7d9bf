#!/usr/bin/env python3
"""Makes PyTorch's numbers for losses, metrics, optimizers, schedules and embeddings: training.safetensors beside this file. Those of
lion and lamb, which it has not, are their published formulas in NumPy.

    python3 make_training.py    # needs torch and scikit-learn; the stored file was made with torch 2.15.0 and scikit-learn 1.9.1

Random settings, everything in float64 from numbers that are float32. The metadata holds each case's whole model. A case's tensors:

  CASE/in.INPUT      an input: of as many batches as the first axis is long, which is not the input's
  CASE/start.P       a parameter
  CASE/loss          the loss of the first batch, and grad.P its gradients: the model descends by them, with a rate of 1
  CASE/metric.I      the metric number I of all batches, by scikit-learn but for perplexity
  CASE/after.P       a parameter after each tenth of a hundred steps, which take the batches in turn; `average` what it is on average
  CASE/single        how far PyTorch is from this in float32: the largest difference of an element, over the largest of its parameter
"""
import json
import pathlib
import random

import numpy
import sklearn
import sklearn.metrics
import torch
from torch.nn import functional as F

from make_layers import f32, write

HERE = pathlib.Path(__file__).parent
PICK = random.Random(8)
STEPS, EACH = 100, 10
RULES = {}  # name -> (model, tensors)


def drawn(*shape, seed, scale=1.0):
    return f32(torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double() * scale)


def integers(high, *shape, seed):
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed))


def number(low, high):
    """With three digits: the same in JSON and here."""
    return round(PICK.uniform(low, high), 3)


def add(kind, inputs, nodes, train, tensors):
    name = f"{kind}_{sum(other.rsplit('_', 1)[0] == kind for other in RULES)}"
    described = {n: {"shape": ["N", *v.shape[2:]], "dtype": "f32" if v.is_floating_point() else "i32"} for n, v in inputs.items()}
    train = {"batch": {"N": next(iter(inputs.values())).shape[1]}, "steps": STEPS, **train}
    model = {"format": "heddle-model/1", "name": "m", "inputs": described, "nodes": nodes, "outputs": {"o": nodes[-1]["name"]}, "train": train}
    RULES[name] = model, {**{"in." + n: v for n, v in inputs.items()}, **tensors}


def exact(low, high):
    """Which f32 holds, as it holds what weighs classes."""
    return round(PICK.uniform(low, high) * 64) / 64


# Losses.

def loss(op, settings, rows, x, more, value):
    """x = z + p with a z of zeros; `value` is PyTorch's. With `weights` each row's loss counts as much, and the sum of the weights is the count."""
    p = x.clone().requires_grad_()
    result = value(p)
    result.backward()
    inputs = {"z": torch.zeros_like(x)[None], **{n: v[None] for n, v in more.items()}}
    nodes = [{"name": "p", "op": "param", "shape": list(x.shape)}, {"name": "x", "op": "add", "in": ["z", "p"]}]
    given = {"op": op, "in": ["x", next(iter(more))], **settings, **({"weights": "w"} if "w" in more else {})}
    add("loss_" + op, inputs, nodes, {"loss": given, "optimizer": {"op": "sgd", "lr": 1}}, {"start.p": x, "loss": result.detach(), "grad.p": p.grad})


def weighed(costs, w):
    """`costs` has one number for each element."""
    w = w.reshape(-1, *[1] * (costs.ndim - 1)).expand_as(costs)
    return (costs * w).sum() / w.sum()


def losses_of_numbers():
    for k in range(12):
        op, shape = ["mae", "mse", "huber", "hinge"][k % 4], [(5, 3), (4,), (2, 3, 4)][k // 4]
        x, t = drawn(*shape, seed=k, scale=2), drawn(*shape, seed=50 + k)
        delta = number(0.3, 2)
        settings = {"delta": delta} if op == "huber" else {}
        if op == "hinge":
            t = torch.where(t > 0, 1.0, -1.0).double()
        cost = {"mae": lambda p, t: (p - t).abs(), "mse": lambda p, t: F.mse_loss(p, t, reduction="none"),
                "huber": lambda p, t: F.huber_loss(p, t, reduction="none", delta=delta), "hinge": lambda p, t: F.relu(1 - p * t)}[op]
        w = f32(drawn(shape[0], seed=70 + k).abs())
        loss(op, settings, shape[0], x, {"t": t}, lambda p: cost(p, t).mean())
        loss(op, settings, shape[0], x, {"t": t, "w": w}, lambda p: weighed(cost(p, t), w))


def binary():
    for k in range(4):
        shape, weight = [(6,), (4, 3)][k % 2], exact(0.3, 3)
        x, t = drawn(*shape, seed=100 + k, scale=3), f32(torch.sigmoid(drawn(*shape, seed=110 + k)))
        loss("binary_cross_entropy", {"pos_weight": weight}, shape[0], x, {"t": t},
             lambda p: F.binary_cross_entropy_with_logits(p, t, pos_weight=torch.tensor(weight).double()))


def divergences():
    for k in range(3):
        x = drawn(*[(4, 3), (3, 2, 5), (2, 7)][k], seed=120 + k)
        t = f32(torch.softmax(drawn(*x.shape, seed=130 + k), -1))
        loss("kl_divergence", {}, len(x), x, {"t": t}, lambda p: F.kl_div(p, t, reduction="batchmean"))


def losses_of_classes():
    for k in range(10):
        classes, shape = PICK.randint(2, 6), [(5,), (3, 4)][k % 2]
        x, y = drawn(*shape, classes, seed=140 + k, scale=2), integers(classes, *shape, seed=150 + k)
        ignored = -100 if k % 3 else PICK.randrange(classes)
        y.view(-1)[1:3] = ignored
        settings = {"ignore_index": ignored}
        weights = [exact(0.2, 2) for _ in range(classes)] if k % 4 > 1 else None
        if weights:
            settings["class_weights"] = weights
        op = "nll" if k >= 6 else "cross_entropy"
        smooth = {}
        if op == "cross_entropy" and k % 2:
            smooth = {"label_smoothing": number(0.05, 0.3)}
        tensor = torch.tensor(weights).double() if weights else None
        function = F.nll_loss if op == "nll" else F.cross_entropy
        loss(op, {**settings, **smooth}, shape[0], x, {"y": y},
             lambda p: function(p.reshape(-1, classes), y.reshape(-1), tensor, ignore_index=ignored, **smooth))


# Embeddings.

def embeddings():
    for k in range(4):
        vocab, units, padding = PICK.randint(3, 9), PICK.randint(1, 5), [-1, 2, -1, 0][k]
        i, t, start = integers(vocab, 4, 3, seed=170 + k), drawn(4, 3, units, seed=180 + k), drawn(vocab, units, seed=190 + k)
        i[0] = i[1, 0] = max(padding, 1)
        weight = start.clone().requires_grad_()
        if padding >= 0:
            start[padding] = 0
            weight = start.clone().requires_grad_()
        y = F.embedding(i, weight, padding_idx=padding if padding >= 0 else None)
        if k == 2:  # tied: the table is the last layer's weight, too
            y = y @ weight.T
            t = drawn(4, 3, vocab, seed=180 + k)
        value = F.mse_loss(y, t)
        value.backward()
        nodes = [{"name": "e", "op": "embedding", "in": "i", "vocab": vocab, "units": units, "padding": padding}]
        if k == 2:
            nodes.append({"name": "y", "op": "matmul", "in": ["e", "e.weight"], "transpose_b": True})
        add("embedding", {"i": i[None], "t": t[None]}, nodes, {"loss": {"op": "mse", "in": [nodes[-1]["name"], "t"]}, "optimizer": {"op": "sgd", "lr": 1}},
            {"start.e.weight": start, "loss": value.detach(), "grad.e.weight": weight.grad})


# Metrics.

def metric(given, inputs, value):
    """Of several batches; x = s z with an s of 1."""
    nodes = [{"name": "s", "op": "param", "shape": []}, {"name": "x", "op": "mul", "in": ["z", "s"]}]
    other = next(n for n in inputs if n != "z")
    loss = {"op": "value", "in": "sum"}
    nodes.insert(2, {"name": "sum", "op": "sum", "in": "x"})
    given = {**given, "in": ["x", other]}
    add("metric_" + given["op"], inputs, nodes, {"loss": loss, "metrics": [given], "optimizer": {"op": "sgd", "lr": 0}},
        {"start.s": torch.ones(()).double(), "metric": torch.as_tensor(value, dtype=torch.float64).reshape(-1)})


def counted(x, y, ignored):
    """Rows of all batches whose label counts."""
    x, y = x.reshape(-1, x.shape[-1]), y.reshape(-1)
    return x[y != ignored], y[y != ignored]


def metrics_of_classes():
    m = sklearn.metrics
    for k in range(6):
        classes, rows = PICK.randint(2, 6), [7, 1, 5][k % 3]
        shape = (5, rows, 2) if k % 2 else (9, rows)
        x, y = drawn(*shape, classes, seed=200 + k), integers(classes, *shape, seed=210 + k)
        ignored = -100 if k < 4 else 1
        y[0] = ignored  # a batch whose rows are all ignored
        logits, labels = counted(x, y, ignored)
        found, every, i = logits.argmax(-1), list(range(classes)), {"ignore_index": ignored}
        inputs = {"z": x, "y": y}
        metric({"op": "accuracy", **i}, inputs, m.accuracy_score(labels, found))
        metric({"op": "perplexity", **i}, inputs, F.cross_entropy(logits, labels).exp())
        metric({"op": "confusion", **i}, inputs, m.confusion_matrix(labels, found, labels=every))
        if classes > 2:
            metric({"op": "top_k_accuracy", "k": 2, **i}, inputs, m.top_k_accuracy_score(labels, logits, k=2, labels=every))
        average = ["micro", "macro", "none"][k % 3]
        for op, function in (("precision", m.precision_score), ("recall", m.recall_score), ("f1", m.f1_score), ("iou", m.jaccard_score)):
            value = function(labels, found, labels=every, average=None if average == "none" else average, zero_division=0)
            metric({"op": op, "average": average, **i}, inputs, value)
            one = int(labels[0])
            metric({"op": op, "class": one, **i}, inputs, function(labels, found, labels=[one], average=None))


def metrics_of_numbers():
    m = sklearn.metrics
    for k in range(3):
        shape = [(4, 3), (5, 2, 4), (3, 1, 3)][k]
        x, t = drawn(*shape, seed=230 + k), drawn(*shape, seed=240 + k)
        a, b = (v.reshape(-1, 1 if v.ndim == 2 else v.shape[-1]).numpy() for v in (t, x))
        inputs = {"z": x, "t": t}
        metric({"op": "mae"}, inputs, m.mean_absolute_error(a, b))
        metric({"op": "mse"}, inputs, m.mean_squared_error(a, b))
        metric({"op": "rmse"}, inputs, m.mean_squared_error(a, b) ** 0.5)
        metric({"op": "r2"}, inputs, m.r2_score(a, b))
        # Scores in the middle of bins: exact, equal ones included.
        bins = integers(40, 4, 9, seed=250 + k) * 12 + 6
        scores, y = f32(torch.logit((bins.double() + 0.5) / 512)), integers(2, 4, 9, seed=260 + k)
        y[:, 0] = -100
        keep = y.flatten() >= 0
        metric({"op": "auc"}, {"z": scores, "y": y}, m.roc_auc_score(y.flatten()[keep], bins.flatten()[keep]))


# Optimizers and schedules.

def path(batches, start, optimizer_of, schedule_of, average, clip, plateau, dtype):
    """The layer's parameters after each tenth of the steps, and their averages at the end."""
    torch.set_default_dtype(dtype)  # NAdam has a number of this type, whatever the parameters have
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for n, v in layer.named_parameters():
            v.copy_(start[n])
    x, t = (v.to(dtype) for v in batches)
    optimizer = optimizer_of(layer)
    schedule = schedule_of(optimizer) if schedule_of else None
    mean = torch.optim.swa_utils.AveragedModel(layer, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(average)) if average else None
    after, seen, falls = {n: [] for n, _ in layer.named_parameters()}, [], set()
    for s in range(STEPS):
        optimizer.zero_grad()
        y = layer(x[s % 4])
        F.mse_loss(y, t[s % 4]).backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(layer.parameters(), clip)
        optimizer.step()
        seen.append((y.detach() - t[s % 4]).double())
        if plateau and s % 4 == 3:
            schedule.step(plateau(torch.cat(seen[-4:])))
            falls.add(optimizer.param_groups[0]["lr"])
        elif schedule and not plateau:
            schedule.step()
        if mean:
            mean.update_parameters(layer)
        if s % EACH == EACH - 1:
            for n, v in layer.named_parameters():
                after[n].append(v.detach().clone())
    assert not plateau or len(falls) > 2, "the rate hardly falls"
    return {n: torch.stack(v) for n, v in after.items()}, {n: v.detach() for n, v in mean.module.named_parameters()} if mean else {}


def distance(single, double):
    """The largest difference of an element after a tenth, over the largest element of its parameter then."""
    return max(((a.double() - b).abs().amax() / b.abs().amax()).item() for n in double for a, b in zip(single[n], double[n]))


def train(kind, train, optimizer_of, schedule_of=None, average=None, clip=None, plateau=None, **more):
    """A dense layer of 3 inputs and 2 outputs over four batches in turn. `plateau`: what the schedule looks at, of an epoch's differences."""
    seed = 300 + len(RULES)
    start = {"weight": drawn(2, 3, seed=seed), "bias": drawn(2, seed=seed + 1)}
    x, t = drawn(4, 5, 3, seed=seed + 2), drawn(4, 5, 2, seed=seed + 3)
    runs = [path((x, t), start, optimizer_of, schedule_of, average, clip, plateau, dtype) for dtype in (torch.float64, torch.float32)]
    torch.set_default_dtype(torch.float32)
    (after, means), (single, _) = runs
    add(kind, {"x": x, "t": t}, [{"name": "fc", "op": "dense", "in": "x", "units": 2}],
        {"loss": {"op": "mse", "in": ["fc", "t"]}, **train, **more},
        {**{"start.fc." + n: v for n, v in start.items()}, **{"after.fc." + n: v for n, v in after.items()},
         **{"average.fc." + n: v for n, v in means.items()}, "single": torch.tensor(distance(single, after)).double()})


def optimizers():
    o = torch.optim
    betas = lambda: [number(0.6, 0.95), number(0.9, 0.999)]
    kinds = {
        "sgd": (o.SGD, lambda: {"momentum": number(0.1, 0.9), "dampening": number(0, 0.5)}),
        "adam": (o.Adam, lambda: {"betas": betas(), "eps": 1e-6}),
        "adamw": (o.AdamW, lambda: {"betas": betas(), "eps": 1e-6}),
        "rmsprop": (o.RMSprop, lambda: {"alpha": number(0.8, 0.99), "momentum": number(0, 0.9), "centered": PICK.random() < 0.5}),
        "adagrad": (o.Adagrad, lambda: {"lr_decay": number(0, 0.1), "initial_accumulator_value": number(0, 0.5)}),
        "adadelta": (o.Adadelta, lambda: {"rho": number(0.7, 0.95), "eps": 1e-5}),
        "adamax": (o.Adamax, lambda: {"betas": betas(), "eps": 1e-4}),
        "nadam": (o.NAdam, lambda: {"betas": betas(), "momentum_decay": number(0.001, 0.01)}),
        "radam": (o.RAdam, lambda: {"betas": betas(), "eps": 1e-5}),
    }
    for op, (kind, settings) in kinds.items():
        train("optimizer_" + op, {"optimizer": op}, lambda layer: kind(layer.parameters()))
        for k in range(2):
            given = {"lr": number(0.005, 0.05), "weight_decay": number(0.001, 0.1), **settings()}
            train("optimizer_" + op, {"optimizer": {"op": op, **given}}, lambda layer: kind(layer.parameters(), **given))
    given = {"lr": 0.05, "momentum": 0.8, "nesterov": True}
    train("optimizer_sgd", {"optimizer": {"op": "sgd", **given}}, lambda layer: o.SGD(layer.parameters(), **given))
    train("clip_norm", {"optimizer": {"op": "sgd", "lr": 0.05}, "clip_norm": 0.3}, lambda layer: o.SGD(layer.parameters(), lr=0.05), clip=0.3)
    train("groups", {"optimizer": {"op": "adamw", "lr": 0.01, "groups": [{"match": "*.bias", "lr": 0.05, "weight_decay": 0}]}},
          lambda layer: o.AdamW([{"params": [layer.weight]}, {"params": [layer.bias], "lr": 0.05, "weight_decay": 0}], lr=0.01))
    train("average", {"optimizer": {"op": "adam", "lr": 0.01}, "average": {"decay": 0.9}}, lambda layer: o.Adam(layer.parameters(), lr=0.01), average=0.9)


def schedules():
    s = torch.optim.lr_scheduler
    sgd = lambda rate: lambda layer: torch.optim.SGD(layer.parameters(), lr=rate)

    def follow(rate, schedule_of, **given):
        train("schedule_" + given["op"], {"optimizer": {"op": "sgd", "lr": given}}, sgd(rate), schedule_of)

    for _ in range(2):
        rate, low, gamma, power = number(0.05, 0.2), number(0, 0.01), number(0.9, 0.99), number(0.5, 3)
        each, first, factor = PICK.randint(3, 30), PICK.randint(5, 30), PICK.randint(1, 3)
        follow(rate, lambda o: s.CosineAnnealingLR(o, STEPS, low), op="cosine", peak=rate, min=low)
        follow(rate, lambda o: s.CosineAnnealingWarmRestarts(o, first, factor, low), op="cosine_restarts", peak=rate, min=low, steps=first, factor=factor)
        follow(rate, lambda o: s.PolynomialLR(o, STEPS, 1), op="linear", peak=rate)
        follow(rate, lambda o: s.PolynomialLR(o, STEPS, power), op="polynomial", peak=rate, power=power)
        follow(rate, lambda o: s.ExponentialLR(o, gamma), op="exponential", value=rate, gamma=gamma)
        follow(rate, lambda o: s.StepLR(o, each, 0.5), op="step", value=rate, steps=each, gamma=0.5)
    for anneal, three in (("cos", False), ("linear", False), ("cos", True)):
        # The last of 100 steps is followed by one more of the schedule, which PyTorch refuses: 101 in all would be another schedule.
        guard = lambda o, a=anneal, t=three: LastStep(s.OneCycleLR(o, 0.2, STEPS, pct_start=0.4, anneal_strategy=a, cycle_momentum=False, three_phase=t))
        follow(0.2, guard, op="one_cycle", peak=0.2, pct_start=0.4, anneal=anneal, three_phase=three)


class LastStep:
    def __init__(self, schedule):
        self.schedule, self.left = schedule, STEPS - 1

    def step(self):
        if self.left:
            self.schedule.step()
            self.left -= 1


# Optimizers that torch.optim has not, by their published formulas, in NumPy's float64.

class Formula:
    """`rule(w, g, kept, step)` returns the parameter after a step and changes what is kept of it."""

    def __init__(self, layer, rule):
        self.parameters, self.rule, self.steps = list(layer.parameters()), rule, 0
        self.kept = [{k: numpy.zeros_like(p.detach().numpy()) for k in "mv"} for p in self.parameters]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    def step(self):
        self.steps += 1
        for p, kept in zip(self.parameters, self.kept):
            p.data = torch.from_numpy(self.rule(p.detach().numpy().copy(), p.grad.numpy(), kept, self.steps))


def lion(lr, betas, weight_decay):
    """Algorithm 2 of arXiv:2302.06675."""
    def rule(w, g, kept, _):
        direction = numpy.sign(betas[0] * kept["m"] + (1 - betas[0]) * g)
        kept["m"] = betas[1] * kept["m"] + (1 - betas[1]) * g
        return w - lr * (direction + weight_decay * w)
    return lambda layer: Formula(layer, rule)


def lamb(lr, betas, eps, weight_decay):
    """Algorithm 2 of arXiv:1904.00962, with the identity as phi."""
    def rule(w, g, kept, t):
        kept["m"] = betas[0] * kept["m"] + (1 - betas[0]) * g
        kept["v"] = betas[1] * kept["v"] + (1 - betas[1]) * g ** 2
        ratio = kept["m"] / (1 - betas[0] ** t) / (numpy.sqrt(kept["v"] / (1 - betas[1] ** t)) + eps)
        direction = ratio + weight_decay * w
        return w - lr * numpy.linalg.norm(w) / numpy.linalg.norm(direction) * direction
    return lambda layer: Formula(layer, rule)


def published():
    for _ in range(3):
        given = {"lr": number(0.001, 0.02), "betas": [number(0.6, 0.95), number(0.9, 0.999)], "weight_decay": number(0.001, 0.1)}
        train("optimizer_lion", {"optimizer": {"op": "lion", **given}}, lion(**given))
        train("optimizer_lamb", {"optimizer": {"op": "lamb", **given, "eps": 1e-6}}, lamb(**given, eps=1e-6))


def plateaus():
    """Epochs of four steps."""
    measures = {"loss": lambda d: d.square().mean().item(), "mae": lambda d: d.abs().mean().item(), "rmse": lambda d: d.square().mean().sqrt().item()}

    def follow(rate, on, **given):
        # No torch.optim has a number called "min" or a measure: min_lr there, and what step() is given.
        known = {"min_lr" if k == "min" else k: v for k, v in given.items()}
        train("schedule_plateau", {"optimizer": {"op": "sgd", "lr": {"op": "plateau", "value": rate, "on": on, **given}}},
              lambda layer: torch.optim.SGD(layer.parameters(), lr=rate), lambda o: torch.optim.lr_scheduler.ReduceLROnPlateau(o, **known),
              plateau=measures[on], **({} if on == "loss" else {"metrics": [{"op": on, "in": ["fc", "t"]}]}))

    follow(0.2, "loss", factor=0.5, patience=1, threshold=0.01)
    follow(0.1, "mae", factor=0.7, patience=2, threshold=0.05, threshold_mode="abs", cooldown=2, min=0.02)
    follow(0.05, "rmse", mode="max", factor=0.8, patience=0, cooldown=1, eps=0.004)
    follow(0.15, "loss", mode="max", factor=0.6, patience=3, threshold=0.05, threshold_mode="abs", min=0.01)


FAMILIES = [losses_of_numbers, binary, divergences, losses_of_classes, embeddings, metrics_of_classes, metrics_of_numbers, optimizers, schedules,
            published, plateaus]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for family in FAMILIES:
        family()
    tensors = {f"{name}/{n}": v.numpy() for name, (_, of) in RULES.items() for n, v in of.items()}
    note = f"torch {torch.__version__.split('+')[0]}, scikit-learn {sklearn.__version__}, see make_training.py"
    write(HERE / "training.safetensors", tensors, {"note": note, **{name: json.dumps(model) for name, (model, _) in RULES.items()}})
    print(len(RULES), "cases")


if __name__ == "__main__":
    main()
