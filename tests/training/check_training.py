#!/usr/bin/env python3
"""Trains the models in models/ through the command line and holds the results to what is published or promised.

    python3 check_training.py digits | mixed | stored | linear | bits | tabular | factorisation | names | shakespeare | mnist_cnn | mnist_mlp | resnet20
    python3 check_training.py MODEL    # one with a twin in PyTorch (reference/twins.json), or of drawn sequences

HEDDLE is the binary. Exit 77 (skipped) where MNIST or Shakespeare is not at hand: $HEDDLE_DATA/mnist and $HEDDLE_DATA/tinyshakespeare, or
those of ../shared/data beside the checkout.
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import safetensors_file  # noqa: E402
import sliced  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE", str(ROOT / "build/release/bin/heddle"))
SKIPPED = 77
# Every pixel straight to the ten classes.
LINEAR = {"nodes": [{"op": "flatten", "in": "image"}, {"name": "logits", "op": "dense", "units": 10}, {"name": "probs", "op": "softmax"}]}


def heddle(*arguments):
    done = subprocess.run([HEDDLE, *arguments, "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def data(name, what):
    folder = pathlib.Path(os.environ.get("HEDDLE_DATA", ROOT.parent / "shared/data")) / name
    if not folder.is_dir():
        print(f"skipped: no {what} in {folder.parent}")
        sys.exit(SKIPPED)
    return str(folder)


def mnist():
    return data("mnist", "MNIST")


def require(name, value, floor=None, below=None):
    print(f"{name}: {value}")
    if floor is not None and not value >= floor:
        sys.exit(f"{name} is {value}, expected at least {floor}")
    if below is not None and not value < below:
        sys.exit(f"{name} is {value}, expected less than {below}")


def digits():
    """The README's model learns the drawn digits."""
    require("digits_cnn test accuracy", heddle("train", str(ROOT / "models/digits_cnn.json"))["metrics"]["test"]["accuracy"], floor=0.97)


def mixed():
    """Digits are learnt in bf16 as well as in f32: the network with convolutions and one without, by the mean of three seeds."""
    dense = [{"op": "flatten", "in": "image"}, {"name": "fc", "op": "dense", "units": 128, "activation": "relu"},
             {"name": "logits", "op": "dense", "units": 10}, {"name": "probs", "op": "softmax"}]
    for name, change in (("digits_cnn", []), ("dense digits", ["--set", "nodes=" + json.dumps(dense)])):
        found = {}
        for precision in ("null", '{"mixed": "bf16"}'):
            runs = [heddle("train", str(ROOT / "models/digits_cnn.json"), *change, "--set", f"train.seed={seed}", "--set", f"train.precision={precision}")
                    for seed in (1, 2, 3)]
            found[precision] = sum(run["metrics"]["test"]["accuracy"] for run in runs) / 3
        exact, low = found.values()
        print(f"{name} in f32: {exact}")
        require(f"{name} in bf16", low, floor=exact - 0.003)


def stored():
    """Parameters of bf16 learn drawn digits in small steps as those of f32 do: rounded by a draw, or beside copies in f32. To the nearest
    they do not, whose steps are lost."""
    dense = [{"op": "flatten", "in": "image"}, {"name": "fc", "op": "dense", "units": 64, "activation": "relu"},
             {"name": "logits", "op": "dense", "units": 10}, {"name": "probs", "op": "softmax"}]
    steps = {"steps": 1500, "epochs": None, "optimizer": {"op": "sgd", "lr": 0.003, "momentum": 0.9}}
    change = [f"--set=nodes={json.dumps(dense)}"] + [f"--set=train.{key}={json.dumps(value)}" for key, value in steps.items()]
    ways = {"f32": {}, "stochastic": {"params": "bf16"}, "nearest": {"params": "bf16", "rounding": "nearest"}, "master": {"params": "bf16", "master": True}}
    losses = {name: sum(heddle("train", str(ROOT / "models/digits_cnn.json"), *change, f"--set=train.seed={seed}",
                               f"--set=train.precision={json.dumps(way)}")["metrics"]["test"]["loss"] for seed in (1, 2)) / 2
              for name, way in ways.items()}
    print(losses)
    require("bf16, rounded by a draw: distance from f32's loss", abs(losses["stochastic"] - losses["f32"]), below=0.02)
    require("bf16 beside copies in f32: distance from f32's loss", abs(losses["master"] - losses["f32"]), below=0.02)
    require("bf16, to the nearest: above f32's loss by", losses["nearest"] - losses["f32"], floor=0.2)


def names():
    """An LSTM tells drawn names apart, of which one in ten is borrowed, and surnames of 18 languages as well as the tutorial's does."""
    model = str(ROOT / "models/lstm_names.json")
    found = heddle("train", model, "--epochs", "3")["metrics"]["validation"]["accuracy"]
    require("drawn names, validation accuracy", found, floor=0.88, below=0.93)
    folder = pathlib.Path(os.environ.get("HEDDLE_DATA", ROOT.parent / "shared/data"))
    if not (folder / "names").is_dir():
        print(f"no surnames in {folder}")
        return
    read = {"op": "text_folder", "folder": "names", "name": "characters", "size": "length", "label": "file"}
    settings = ["--set=let.alphabet=83", "--set=let.classes=18", f"--set=data.train={json.dumps(read)}"]
    found = heddle("train", model, "--data", str(folder), *settings)["metrics"]["validation"]["accuracy"]
    # Bayes' rule over counted trigrams comes to 0.824.
    require("surnames, validation accuracy", found, floor=0.824)


def shakespeare():
    """nanoGPT's configuration for a processor, 2,000 steps. It reports 1.88 nats a character, of drawn windows; here they are the whole last
    tenth, as docs/text.md has them of several seeds."""
    reads = {"op": "tokens", "file": "input.txt", "window": "ctx", "tokens": "window", "targets": "next"}
    train, held = {**reads, "range": [0, 0.9], "stride": 1}, {**reads, "range": [0.9, 1]}
    settings = ["let.vocab=65", f"data.train={json.dumps(train)}", f"data.validation={json.dumps(held)}"]
    arguments = ["--data", data("tinyshakespeare", "Shakespeare"), *[f"--set={s}" for s in settings]]
    found = heddle("train", str(ROOT / "models/char_gpt.json"), *arguments)["metrics"]["validation"]["loss"]
    require("Shakespeare, validation loss", found, floor=1.4, below=1.94)


def linear():
    """The drawn digits are not trivial: a linear model does not learn them."""
    settings = [f"--set=nodes={json.dumps(LINEAR['nodes'])}"]
    found = heddle("train", str(ROOT / "models/digits_cnn.json"), *settings)["metrics"]["test"]["accuracy"]
    require("linear test accuracy", found, floor=0.3, below=0.85)


def bits():
    """Two folders, one, two and four threads, twice: the same weights after an epoch."""
    hashes = []
    for threads in ("1", "2", "4", "2"):
        with tempfile.TemporaryDirectory() as folder:
            model = shutil.copy(ROOT / "models/digits_cnn.json", folder)
            hashes.append(heddle("train", model, "--set", "train.epochs=1", "--threads", threads)["weights_hash"])
    print("weights:", *hashes)
    if len(set(hashes)) != 1:
        sys.exit("the weights depend on the number of threads or the folder")


def least_squares(rows, targets):
    """Of the normal equations, by elimination; a column of ones is the intercept."""
    rows = [[*row, 1.0] for row in rows]
    n = len(rows[0])
    a = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [sum(r[i] * t for r, t in zip(rows, targets))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(a[k][i]))
        a[i], a[pivot] = a[pivot], a[i]
        for k in range(n):
            if k != i:
                a[k] = [x - y * a[k][i] / a[i][i] for x, y in zip(a[k], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


def saved(path):
    """The elements of the f32 tensors of a file, by name."""
    _, tensors = safetensors_file.read(path)
    return {name: tensor.values() for name, tensor in tensors.items() if tensor.dtype == "F32"}


def tabular():
    """The linear model of a table has the coefficients of ordinary least squares, whatever it starts from."""
    path = ROOT / "models/tabular_regression.json"
    model = json.loads("".join(x for x in path.read_text().splitlines(True) if not x.startswith("//")))
    (scale,), (target,) = model["data"]["map"]["x"], model["data"]["map"]["price"]
    with open(ROOT / "models/houses.csv", newline="") as f:
        table = [[float(x) for x in row] for row in list(csv.reader(f))[1:]]
    rows = [[(x - m) / s for x, m, s in zip(row, scale["mean"], scale["std"])] for row in table]
    wanted = least_squares(rows, [(row[-1] - target["mean"]) / target["std"] for row in table])
    for seed in ("1", "2", "3"):
        with tempfile.TemporaryDirectory() as folder:
            heddle("train", str(path), "--set", f"train.seed={seed}", "--save", f"{folder}/w.safetensors")
            weights = saved(f"{folder}/w.safetensors")
        found = [*weights["y.weight"], *weights["y.bias"]]
        require(f"seed {seed}: largest difference of a coefficient", max(abs(a - b) for a, b in zip(found, wanted)), below=1e-3)
    require("largest coefficient", max(abs(x) for x in wanted), floor=0.1)


def explained(matrix, rank):
    """The squares that the first `rank` singular values explain, each found by power iteration on what is left."""
    left, total = [row[:] for row in matrix], 0.0
    for _ in range(rank):
        v = [1.0 / (i + 1) for i in range(len(left[0]))]
        for _ in range(1000):
            u = [sum(a * b for a, b in zip(row, v)) for row in left]
            v = [sum(row[i] * x for row, x in zip(left, u)) for i in range(len(v))]
            length = sum(x * x for x in v) ** 0.5
            v = [x / length for x in v]
        u = [sum(a * b for a, b in zip(row, v)) for row in left]
        left = [[a - x * b for a, b in zip(row, v)] for row, x in zip(left, u)]
        total += sum(x * x for x in u)
    return total


def factorisation():
    """Where all ratings are known no product of two tables comes nearer than the truncated singular value decomposition."""
    with open(ROOT / "models/ratings.csv", newline="") as f:
        ratings = [(int(user), int(film), float(x) - 3) for user, film, x in list(csv.reader(f))[1:]]
    matrix = [[0.0] * 30 for _ in range(40)]
    for user, film, x in ratings:
        matrix[user][film] = x
    least = ((sum(x * x for _, _, x in ratings) - explained(matrix, 3)) / len(ratings)) ** 0.5
    require("error of the decomposition", least, floor=0.3)
    for seed in ("1", "2", "3"):
        found = heddle("train", str(ROOT / "models/matrix_factorisation.json"), "--set", f"train.seed={seed}")
        error = found["metrics"]["train"]["rmse"]
        require(f"seed {seed}: error over that of the decomposition", error / least, floor=0.999, below=1.02)


def mnist_cnn():
    """Keras's network reaches what Keras reports."""
    arguments = ("train", str(ROOT / "models/mnist_cnn.json"), "--data", mnist())
    first = heddle(*arguments, "--set", "train.epochs=1")
    require("validation accuracy after epoch 1", first["metrics"]["validation"]["accuracy"], floor=0.970)
    require("test accuracy after epoch 15", heddle(*arguments)["metrics"]["test"]["accuracy"], floor=0.988)


def resnet20():
    """One epoch of the drawn digits, whatever it starts from."""
    for seed in ("1", "2", "3"):
        short = ("--set", "train.epochs=1", "--set", "train.steps=85")
        found = heddle("train", str(ROOT / "models/resnet20.json"), "--set", f"train.seed={seed}", *short)
        require(f"seed {seed}: test accuracy after epoch 1", found["metrics"]["test"]["accuracy"], floor=0.985)


def mnist_mlp():
    found = heddle("train", str(ROOT / "models/mnist_mlp.json"), "--data", mnist(), "--set", "train.epochs=20")
    require("test accuracy after epoch 20", found["metrics"]["test"]["accuracy"], floor=0.975)


STORED = json.loads((ROOT / "tests/training/reference/twins.json").read_text())
TWINS, TRIVIAL = STORED["twins"], STORED["trivial"]
# What three seeds must reach each, beside what the twin reaches.
FLOORS = {"unet": ("iou", 0.90), "vq_vae": ("mae", 0.9)}  # of vq_vae the share of its words that a batch uses


def require_floor(name, found):
    if name in FLOORS:
        figure, floor = FLOORS[name]
        require(f"{name}: least {figure}", min(run[figure] for run in found), floor=floor)


# Models of drawn sequences: what the validation, or the test, reaches, of combinations that no training row has. Each model's file says
# what trivial answers reach; they are at least 0.2 below. By settings that are trained.
DRAWN = {
    "addition_rnn": {"--epochs=5": {"loss": {"below": 0.80}}, "--epochs=30": {"accuracy": {"floor": 0.99}}},  # 0.80: Keras's example
    "llama_small": {"": {"exact_match": {"floor": 0.99}, "exact_match_generated": {"floor": 0.99}}},
    "question_answering": {"": {"span_exact_match": {"floor": 0.98}}},
    "rnn_adding": {"": {"loss": {"below": 0.005}}},
    "sentiment": {"": {"accuracy": {"floor": 0.98}}},
    "seq2seq_dates": {settings: {"exact_match": {"floor": 0.99}} for settings in ("", "--set=nodes.writer.op=block:dot")},
    "speech_digits": {"": {"exact_match": {"floor": 0.97}, "character_error_rate": {"below": 0.03}}},
    "summary": {"": {"exact_match": {"floor": 0.95}}},
    "text_gru": {"": {"accuracy": {"floor": 0.81}}},
    "translation": {"": {"exact_match": {"floor": 0.98}}},
}


def drawn(name):
    for settings, figures in DRAWN[name].items():
        metrics = heddle("train", str(ROOT / f"models/{name}.json"), *settings.split())["metrics"]
        for figure, bound in figures.items():
            require(" ".join([f"{name}: {figure}", *settings.split()]), (metrics.get("validation") or metrics["test"])[figure], **bound)


# Of models with a trivial answer (reference/make_twins.py): how much of that answer's error is left at most; of the figure dqn earns,
# how many times that answer's.
MARGINS = {"quantile_regression": {"loss": 0.65}, "vq_vae": {"loss_mse": 0.25}, "dqn": {"mae": 4.0},
           "multi_task": {"accuracy": 0.1, "mse": 0.4}, "distillation": {"accuracy": 0.05, "accuracy_2": 0.05},
           "triplet_embedding": {"accuracy": 0.15}, "wgan_gp": {"likeness": 0.3}, "tabular_mixed": {"loss": 0.25},
           "volume_segmentation": {"iou": 0.45}, "photo_classifier": {"accuracy": 0.1}, "byol_small": {"accuracy": 0.4},
           "pinn": {"mae": 0.001}}
# What a model has for a reason: how many times the error of seed 1 is at least, where these settings leave it out.
WORSE = {"tabular_mixed": [("loss", 1.1, ['inputs.numbers.shape=["N", 2]']),  # which values are missing
                           ("loss", 1.05, ["data.train.min_count=1", "let.stations=140"])],  # one class of all small stations
         "byol_small": [("accuracy", 4, ['train.freeze=["first_*"]'])]}  # a probe of an untrained encoder's codes

# An error that is almost 0 varies by more than a factor of 2 from seed to seed: what each seed reaches, here and in PyTorch.
MOST = {("pinn", "mae"): 1e-3}
# How far the mean of three seeds may lie from PyTorch's else, as a share. The pixels of seed 2 are off by a tenth more than those of others.
NEAR, NEAR_OF = 0.02, {("multi_task", "mse"): 0.1}


def tested(name, seed):
    """The figures of the test rows; of a generator how its points lie (sliced.py)."""
    train = ("train", str(ROOT / f"models/{name}.json"), "--set", f"train.seed={seed}")
    if name != "wgan_gp":
        return heddle(*train)["metrics"]["test"]
    with tempfile.TemporaryDirectory() as folder:
        heddle(*train, "--save", f"{folder}/w.safetensors")
        rows = "".join(json.dumps({"noise": row}) + "\n" for row in sliced.noise())
        made = subprocess.run([HEDDLE, "predict", train[1], "--weights", f"{folder}/w.safetensors", "--in", "-"], input=rows,
                              stdout=subprocess.PIPE, text=True, check=True)
    return {"likeness": sliced.likeness([json.loads(line)["points"] for line in made.stdout.splitlines()])}


def beside_both(name):
    """The mean of three seeds lies near that of the same model in PyTorch, and is better than a trivial answer by a margin."""
    found = [tested(name, seed) for seed in (1, 2, 3)]
    for figure, margin in MARGINS[name].items():
        ours, twin = (sum(run[figure] for run in runs) / 3 for runs in (found, TWINS[name]))
        print(f"{name} {figure}:", *(round(run[figure], 5) for run in found), "PyTorch:", *(run[figure] for run in TWINS[name]))
        if (name, figure) in MOST:
            require(f"{name}: largest {figure}", max(run[figure] for run in [*found, *TWINS[name]]), below=MOST[name, figure])
        else:
            require(f"{name}: distance of {figure} from PyTorch's, as a share", abs(ours / twin - 1), below=NEAR_OF.get((name, figure), NEAR))
        trivial = TRIVIAL[name][figure]
        print(f"{TRIVIAL[name]['answer']}: {figure} {trivial}")
        if margin > 1:
            require(f"{name}: mean {figure} over the trivial answer's", ours / trivial, floor=margin)
        else:
            require(f"{name}: mean error of {figure} over the trivial answer's", error(figure, ours) / error(figure, trivial), below=margin)
    require_floor(name, found)
    for figure, factor, settings in WORSE.get(name, []):
        worse = heddle("train", str(ROOT / f"models/{name}.json"), *[f"--set={s}" for s in settings])["metrics"]["test"][figure]
        ratio = error(figure, worse) / error(figure, found[0][figure])
        require(" ".join([f"{name}: error of {figure} over that of seed 1, with", *settings]), ratio, floor=factor)


def error(figure, value):
    return value if figure.startswith("loss") or figure in ("mae", "mse") else 1 - value


def beside_twin(name):
    """The mean error of three seeds is at most a tenth above that of the same model in PyTorch, or 0.005 where it is a share."""
    found = [heddle("train", str(ROOT / f"models/{name}.json"), "--set", f"train.seed={seed}")["metrics"]["test"] for seed in (1, 2, 3)]
    for figure in TWINS[name][0]:
        ours, twin = (sum(error(figure, run[figure]) for run in runs) / 3 for runs in (found, TWINS[name]))
        print(f"{name} {figure}:", *(round(run[figure], 5) for run in found), "PyTorch:", *(run[figure] for run in TWINS[name]))
        require(f"{name}: mean error of {figure}", ours, below=1.1 * twin + (0 if figure.startswith("loss") else 0.005))
    require_floor(name, found)


if __name__ == "__main__":
    tests = {f.__name__: f for f in (digits, mixed, stored, linear, bits, tabular, factorisation, names, shakespeare, mnist_cnn, mnist_mlp, resnet20)}
    name = sys.argv[1]
    of_tables = [test for known, test in ((DRAWN, drawn), (MARGINS, beside_both), (TWINS, beside_twin)) if name in known]
    of_tables[0](name) if of_tables else tests[name]()
