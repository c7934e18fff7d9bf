#!/usr/bin/env python3
"""Trains PyTorch's twins of models/ on the same rows: twins.json beside this file, which check_training.py reads.

    ninja -C build/release heddle_model_rows
    python3 make_twins.py [NAME ...]    # needs torch, numpy and Pillow; the stored file was made with torch 2.15.0 on a CPU

Each twin is written as one would write it in PyTorch, with the model file's rows, batch, epochs, optimizer, schedule and distributions of
initial values; rows are shuffled by torch.randperm. What is stored are figures of the test rows for seeds 1, 2 and 3, named as heddle
names them. Some twins have a trivial answer, too: what one reaches on the test rows without a network. Names given on the
command line are made anew, the others kept.
"""
import collections
import csv
import datetime
import functools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy
import torch
from PIL import Image, ImageOps
from torch import nn
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(HERE.parent))
import sliced  # noqa: E402

ROWS = ROOT / "build/release/bin/heddle_model_rows"
SEEDS = (1, 2, 3)


def channels_first(image, mean=0.0, std=255.0):
    image = image if image.ndim == 4 else image[..., None]
    return (image.float().movedim(-1, 1) - mean) / std


def centred(image):
    return channels_first(image, 128, 64)


class Recommender(nn.Module):
    std = 0.1

    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(6040, 64), nn.Embedding(3706, 64)
        self.fc1, self.fc2, self.score = nn.Linear(128, 64), nn.Linear(64, 32), nn.Linear(96, 1)

    def forward(self, user, item):
        u, i = self.users(user), self.items(item)
        h = F.relu(self.fc2(F.relu(self.fc1(torch.cat([u, i], 1)))))
        return self.score(torch.cat([u * i, h], 1)).squeeze(1)

    def loss(self, rows):
        return F.binary_cross_entropy_with_logits(self(rows["user"].long(), rows["item"].long()), rows["liked"].float())

    def figures(self, rows):
        scores = self(rows["user"].long(), rows["item"].long())
        return {"auc": auc(scores, rows["liked"])}


def double(before, f):
    return nn.Sequential(nn.Conv2d(before, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU(),
                         nn.Conv2d(f, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU())


class Up(nn.Module):
    def __init__(self, before, f):
        super().__init__()
        self.larger, self.y = nn.ConvTranspose2d(before, f, 2, 2), double(2 * f, f)

    def forward(self, x, seen):
        return self.y(torch.cat([seen, self.larger(x)], 1))


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1, self.down2, self.bottom = double(1, width), double(width, 2 * width), double(2 * width, 4 * width)
        self.up2, self.up1, self.logits = Up(4 * width, 2 * width), Up(2 * width, width), nn.Conv2d(width, 2, 1)

    def forward(self, image):
        one = self.down1(centred(image))
        two = self.down2(F.max_pool2d(one, 2))
        return self.logits(self.up1(self.up2(self.bottom(F.max_pool2d(two, 2)), two), one))

    def loss(self, rows):
        logits, mask = self(rows["image"]), rows["mask"].long()
        p, t = logits.softmax(1)[:, 1], mask.float()
        return F.cross_entropy(logits, mask) + 1 - 2 * (p * t).sum() / (p + t).sum()

    def figures(self, rows):
        found, there = self(rows["image"]).argmax(1) == 1, rows["mask"] == 1
        return {"iou": ((found & there).sum() / (found | there).sum()).item()}


class Autoencoder(nn.Module):
    def __init__(self, code=32, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
                                     nn.Flatten(), nn.Linear(49 * 2 * width, code))
        self.decoder = nn.Sequential(nn.Linear(code, 49 * 2 * width), nn.ReLU(), nn.Unflatten(1, (2 * width, 7, 7)),
                                     nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(width, 1, 4, 2, 1), nn.Sigmoid())

    def loss(self, rows):
        x = channels_first(rows["image"])
        return F.mse_loss(self.decoder(self.encoder(x)), x)

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}


class Vae(nn.Module):
    def __init__(self, code=8, hidden=256):
        super().__init__()
        self.encoder, self.moments = nn.Linear(784, hidden), nn.Linear(hidden, 2 * code)
        self.decoder, self.logits = nn.Linear(code, hidden), nn.Linear(hidden, 784)

    def loss(self, rows):
        x = channels_first(rows["image"]).flatten(1)
        mean, log_variance = self.moments(F.relu(self.encoder(x))).chunk(2, 1)
        code = mean + torch.exp(log_variance / 2) * torch.randn_like(mean) if self.training else mean
        kl = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum(1).mean()
        return F.binary_cross_entropy_with_logits(self.logits(F.relu(self.decoder(code))), x) + kl / 784

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}


class Siamese(nn.Module):
    def __init__(self, code=16, width=16):
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(1, width, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(width, 2 * width, 3), nn.ReLU(),
                                   nn.MaxPool2d(2), nn.Flatten(), nn.Linear(25 * 2 * width, 8 * code), nn.ReLU(),
                                   nn.Linear(8 * code, code, bias=False))

    def squared(self, rows):
        a, b = self.tower(channels_first(rows["first"])), self.tower(channels_first(rows["second"]))
        return (a - b).square().sum(1)

    def loss(self, rows):
        squared, same = self.squared(rows), rows["same"].float()
        return (same * squared + (1 - same) * F.relu(1 - (squared + 1e-6).sqrt()).square()).mean()

    def figures(self, rows):
        return {"auc": auc(-self.squared(rows), rows["same"])}


class Detector(nn.Module):
    def __init__(self, width=16, classes=6):
        super().__init__()
        layers, before = [], 1
        for f, pool in ((width, True), (2 * width, True), (4 * width, True), (4 * width, False)):
            layers += [nn.Conv2d(before, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU()]
            layers += [nn.MaxPool2d(2)] if pool else []
            before = f
        self.layers = nn.Sequential(*layers, nn.Conv2d(before, classes + 4, 1))

    def parts(self, rows):
        y = self.layers(centred(rows["image"])).movedim(1, -1)
        logits, at, log_sides = y.split([6, 2, 2], -1)
        middle, sides, truth = at.sigmoid(), log_sides.exp(), rows["boxes"]
        low = torch.maximum(middle - sides / 2, truth[..., :2] - truth[..., 2:] / 2)
        high = torch.minimum(middle + sides / 2, truth[..., :2] + truth[..., 2:] / 2)
        common = F.relu(high - low).prod(-1)
        iou = common / (sides.prod(-1) + truth[..., 2:].prod(-1) - common)
        taken = (rows["cells"] > 0).float()
        return logits, 1 - (iou * taken).sum() / taken.sum()

    def loss(self, rows):
        logits, overlap = self.parts(rows)
        log_p = F.log_softmax(logits, -1).gather(-1, rows["cells"].long()[..., None]).squeeze(-1)
        return -10 * ((1 - log_p.exp()).square() * log_p).mean() + overlap

    def figures(self, rows):
        logits, overlap = self.parts(rows)
        return {"f1": macro_f1(logits.argmax(-1), rows["cells"], 6), "loss_value_2": overlap.item()}


class Classifier(nn.Module):
    def prepare(self, rows):
        return centred(rows["image"])

    def loss(self, rows):
        return F.cross_entropy(self.layers(self.prepare(rows)), rows["label"].long())

    def figures(self, rows):
        return {"accuracy": (self.layers(self.prepare(rows)).argmax(1) == rows["label"]).float().mean().item()}


class Vgg(Classifier):
    def __init__(self, width=8):
        super().__init__()
        layers, before = [], 1
        for f in (width, 2 * width, 4 * width):
            layers += [nn.Conv2d(before, f, 3, padding=1), nn.ReLU(), nn.Conv2d(f, f, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            before = f
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(9 * before, 8 * width), nn.ReLU(), nn.Dropout(0.25),
                                    nn.Linear(8 * width, 8 * width), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8 * width, 10))

    def prepare(self, rows):
        return channels_first(rows["image"])


class Flipped(Classifier):
    def prepare(self, rows):
        x = centred(rows["image"])
        flip = torch.rand(len(x), 1, 1, 1) < 0.5
        return torch.where(flip, x.flip(3), x) if self.training else x


class AlexNet(Flipped):
    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(width, 2 * width, 5, padding=2), nn.ReLU(),
            nn.MaxPool2d(3, 2), nn.Conv2d(2 * width, 3 * width, 3, padding=1), nn.ReLU(), nn.Conv2d(3 * width, 2 * width, 3, padding=1),
            nn.ReLU(), nn.MaxPool2d(3, 2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(9 * 2 * width, 8 * width), nn.ReLU(),
            nn.Dropout(0.2), nn.Linear(8 * width, 5))


class MobileNet(Flipped):
    def __init__(self, width=16):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        before = width
        for f, stride in ((2 * width, 1), (4 * width, 2), (4 * width, 1), (8 * width, 2)):
            layers += [nn.Conv2d(before, before, 3, stride, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(),
                       nn.Conv2d(before, f, 1, bias=False), nn.BatchNorm2d(f), nn.ReLU6()]
            before = f
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 5))


class Halving(nn.Module):
    """Two convolutions beside one of a pixel, all with norms."""

    def __init__(self, before, f):
        super().__init__()
        self.long = nn.Sequential(nn.Conv2d(before, f, 3, 2, 1, bias=False), nn.BatchNorm2d(f), nn.ReLU(),
                                  nn.Conv2d(f, f, 3, 1, 1, bias=False), nn.BatchNorm2d(f))
        self.short = nn.Sequential(nn.Conv2d(before, f, 1, 2, bias=False), nn.BatchNorm2d(f))

    def forward(self, x):
        return F.relu(self.long(x) + self.short(x))


class MiniResnet(Classifier):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Halving(8, 16), Halving(16, 32),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))

    def prepare(self, rows):
        return channels_first(rows["image"])


class PhotoClassifier(Flipped):
    """Reads the pictures without Heddle: with Pillow."""
    trivial_name = "one class for all"

    def __init__(self, width=8):
        super().__init__()
        layers, before = [], 3
        for f in (width, 2 * width, 4 * width):
            layers += [nn.Conv2d(before, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU(), nn.MaxPool2d(2)]
            before = f
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.25), nn.Linear(16 * before, 4))

    def prepare(self, rows, pad=3):
        x, n = super().prepare(rows), len(rows["image"])
        down, right = (torch.randint(0, 2 * pad + 1, (n, 1)) + torch.arange(32) for _ in range(2))
        moved = F.pad(x, (pad,) * 4)[torch.arange(n)[:, None, None], :, down[:, :, None], right[:, None, :]].movedim(-1, 1)
        return moved if self.training else x  # 0 is what is left of the border's 128

    @staticmethod
    def picture(path):
        image = ImageOps.exif_transpose(Image.open(path)).convert("RGB")
        return torch.from_numpy(numpy.array(ImageOps.fit(image, (32, 32), Image.Resampling.BILINEAR)))

    @classmethod
    def read(cls):
        rows = {}
        for split in ("train", "test"):
            folders = sorted((ROOT / "models/photos" / split).iterdir())
            files = [(path, label) for label, folder in enumerate(folders) for path in sorted(folder.iterdir())]
            rows[split] = {"image": torch.stack([cls.picture(path) for path, _ in files]),
                           "label": torch.tensor([label for _, label in files])}
        return rows

    @staticmethod
    def trivial(train, test):
        return {"accuracy": (test["label"] == train["label"].mode().values).float().mean().item()}


class QuantileRegression(nn.Module):
    of = torch.tensor([0.1, 0.5, 0.9])
    trivial_name = "the quantiles of all training rows"

    def __init__(self, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 3))

    @staticmethod
    def target(rows):
        x, share = rows["drawn"][:, :1], rows["drawn"][:, 1:].clamp(1e-6, 0.999999)
        return torch.sin(2 * math.pi * x) + (0.1 + 0.4 * x) * torch.log(share / (1 - share))

    @classmethod
    def pinball(cls, found, rows):
        away = cls.target(rows) - found
        return torch.maximum(cls.of * away, (cls.of - 1) * away).mean(0).sum()

    def loss(self, rows):
        return self.pinball(self.layers(rows["drawn"][:, :1]), rows)

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}

    @classmethod
    def trivial(cls, train, test):
        return {"loss": cls.pinball(torch.quantile(cls.target(train), cls.of), test).item()}


class MultiTask(nn.Module):
    trivial_name = "the commonest digit, and the mean picture of the training rows"

    def __init__(self, hidden=256, code=64):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, code), nn.ReLU())
        self.classes = nn.Linear(code, 10)
        self.pixels = nn.Sequential(nn.Linear(code, hidden), nn.ReLU(), nn.Linear(hidden, 784), nn.Sigmoid())
        self.s = nn.Parameter(torch.zeros(2))

    def forward(self, rows):
        x = channels_first(rows["image"]).flatten(1)
        code = self.shared(x)
        return self.classes(code), (self.pixels(code) - x).square()

    def loss(self, rows):
        classes, squares = self(rows)
        both = torch.stack([F.cross_entropy(classes, rows["label"].long()), squares.sum(1).mean()])
        return (both * torch.exp(-self.s) + self.s).sum()

    def figures(self, rows):
        classes, squares = self(rows)
        return {"accuracy": (classes.argmax(1) == rows["label"]).float().mean().item(), "mse": squares.mean().item()}

    @staticmethod
    def trivial(train, test):
        return {"accuracy": (test["label"] == train["label"].mode().values).float().mean().item(),
                "mse": (channels_first(test["image"]) - channels_first(train["image"]).mean(0)).square().mean().item()}


class TabularMixed(nn.Module):
    """Reads the tables without Heddle: with Python's csv, datetime and statistics."""
    trivial_name = "the mean of the training rows' logarithms"
    std = 0.1

    def __init__(self, stations=13, weathers=5, hidden=24):
        super().__init__()
        self.place, self.sky, self.days = nn.Embedding(stations, 6), nn.Embedding(weathers, 3), nn.Embedding(7, 3)
        self.layers = nn.Sequential(nn.Linear(22, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    @staticmethod
    def numbers_of(tables, name):
        """With the median for what is missing, normalized, both as of the training rows; and which are missing."""
        said = {split: [float(row[name]) if row[name] else None for row in rows] for split, rows in tables.items()}
        middle = statistics.median(v for v in said["train"] if v is not None)
        filled = {split: torch.tensor([middle if v is None else v for v in values]) for split, values in said.items()}
        missing = {split: torch.tensor([float(v is None) for v in values]) for split, values in said.items()}
        return [{s: (of[s] - of["train"].mean()) / of["train"].std(unbiased=False) for s in of} for of in (filled, missing)]

    @staticmethod
    def classes_of(tables, name):
        """Names that fewer than 20 training rows have, and those of other rows, are the class behind all others."""
        counts = collections.Counter(row[name] for row in tables["train"])
        kept = sorted(n for n, count in counts.items() if count >= 20)
        number = {n: i for i, n in enumerate(kept)}
        return {split: torch.tensor([number.get(row[name], len(kept)) for row in rows]) for split, rows in tables.items()}

    @staticmethod
    def times_of(row):
        when = datetime.datetime.fromisoformat(row["when"])
        begin, end = datetime.datetime(when.year, 1, 1), datetime.datetime(when.year + 1, 1, 1)
        return [(when.hour * 60 + when.minute) / 1440, (when - begin) / (end - begin), when.weekday()]

    @classmethod
    def read(cls):
        tables = {}
        for split, year in (("train", 2023), ("test", 2024)):
            with open(ROOT / f"models/hires_{year}.csv", newline="") as file:
                tables[split] = list(csv.DictReader(file))
        temperature, no_temperature = cls.numbers_of(tables, "temperature")
        wind, no_wind = cls.numbers_of(tables, "wind")
        station, weather = cls.classes_of(tables, "station"), cls.classes_of(tables, "weather")
        return {split: {"numbers": torch.stack([of[split] for of in (temperature, wind, no_temperature, no_wind)], 1),
                        "when": torch.tensor([cls.times_of(row) for row in rows]),
                        "station": station[split], "weather": weather[split],
                        "hours": torch.tensor([float(row["hours"]) for row in rows]),
                        "hired": torch.tensor([float(row["hired"]) for row in rows])} for split, rows in tables.items()}

    def forward(self, rows):
        day, year, weekday = rows["when"].T
        turns = 2 * math.pi * torch.stack([day, year, 2 * day], 1)
        row = [rows["numbers"], turns.sin(), turns.cos(), self.place(rows["station"]), self.sky(rows["weather"]), self.days(weekday.long())]
        return self.layers(torch.cat(row, 1)).squeeze(1)

    @staticmethod
    def mean_square(found, rows):
        return ((found - torch.log(rows["hired"] + 0.1)).square() * rows["hours"]).sum() / rows["hours"].sum()

    def loss(self, rows):
        return self.mean_square(self(rows), rows)

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}

    @classmethod
    def trivial(cls, train, test):
        logarithms = torch.log(train["hired"] + 0.1)
        return {"loss": cls.mean_square((logarithms * train["hours"]).sum() / train["hours"].sum(), test).item()}


def layer3d(before, f):
    return nn.Sequential(nn.Conv3d(before, f, 3, padding=1, bias=False), nn.BatchNorm3d(f), nn.ReLU())


class VolumeSegmentation(nn.Module):
    trivial_name = "all is ground"

    def __init__(self, width=6):
        super().__init__()
        self.down1, self.down2, self.bottom = layer3d(1, width), layer3d(width, 2 * width), layer3d(2 * width, 4 * width)
        self.larger2, self.up2 = nn.ConvTranspose3d(4 * width, 2 * width, 2, 2), layer3d(2 * width, 2 * width)
        self.larger1, self.up1 = nn.ConvTranspose3d(2 * width, width, 2, 2), layer3d(width, width)
        self.logits = nn.Conv3d(width, 3, 1)

    def forward(self, volume):
        one = self.down1((volume.float().movedim(-1, 1) - 128) / 64)
        two = self.down2(F.max_pool3d(one, 2))
        up = self.up2(two + self.larger2(self.bottom(F.max_pool3d(two, 2))))
        return self.logits(self.up1(one + self.larger1(up)))

    def loss(self, rows):
        return F.cross_entropy(self(rows["volume"]), rows["mask"].long(), torch.tensor([1.0, 4, 4]))

    @staticmethod
    def iou(found, there):
        of_classes = [((found == k) & (there == k)).sum() / ((found == k) | (there == k)).sum() for k in range(3)]
        return (sum(of_classes) / 3).item()

    def figures(self, rows):
        return {"iou": self.iou(self(rows["volume"]).argmax(1), rows["mask"])}

    @classmethod
    def trivial(cls, _, test):
        return {"iou": cls.iou(torch.zeros_like(test["mask"]), test["mask"])}


class VqVae(nn.Module):
    trivial_name = "the mean picture of the training rows"

    def __init__(self, words=32, code=8, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
                                     nn.Conv2d(2 * width, code, 1))
        self.codebook = nn.Parameter(0.05 * torch.randn(words, code))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(code, 2 * width, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(2 * width, 1, 4, 2, 1), nn.Sigmoid())

    def parts(self, rows):
        x = channels_first(rows["image"])
        vectors = self.encoder(x).movedim(1, -1)
        away = self.codebook.square().sum(1) - 2 * vectors @ self.codebook.T
        chosen = self.codebook[away.argmin(-1)]
        code = vectors + (chosen - vectors).detach()
        return F.mse_loss(self.decoder(code.movedim(-1, 1)), x), vectors, chosen

    def loss(self, rows):
        error, vectors, chosen = self.parts(rows)
        return error + F.mse_loss(chosen, vectors.detach()) + 0.25 * F.mse_loss(vectors, chosen.detach())

    def figures(self, rows):
        return {"loss_mse": self.parts(rows)[0].item()}

    @staticmethod
    def trivial(train, test):
        return {"loss_mse": (channels_first(test["image"]) - channels_first(train["image"]).mean(0)).square().mean().item()}


class Dqn(nn.Module):
    trivial_name = "the engine stays off"

    def __init__(self, hidden=32):
        super().__init__()

        def network():
            return nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 3))

        self.online, self.target = network(), network()

    def begin(self):
        self.target.load_state_dict(self.online.state_dict())

    def renew(self, step):
        if step % 100 == 0:
            self.begin()

    @staticmethod
    def moved(state, action):
        """One step by actions 0, 1, 2: the next state and its reward."""
        v = (state[:, 1] + 0.25 * (action - 1)).clamp(-1, 1)
        state = torch.stack([(state[:, 0] + 0.25 * v).clamp(-1, 1), v], 1)
        return state, torch.exp(-4 * state.square().sum(1))

    @classmethod
    def game(cls, rows, policy):
        state, rewards, states = 2 * rows["drawn"][:, :2] - 1, [], []
        for t in range(rows["drawn"].shape[1] - 2):
            states.append(state)
            state, reward = cls.moved(state, policy(t, state))
            rewards.append(reward)
        return torch.stack(states, 1), torch.stack(rewards, 1)

    def loss(self, rows):
        actions = (3 * rows["drawn"][:, 2:]).long()
        states, rewards = self.game(rows, lambda t, _: actions[:, t])
        worth = self.online(states).gather(2, actions[..., None]).squeeze(2)
        with torch.no_grad():
            found = rewards[:, :-1] + 0.9 * self.target(states)[:, 1:].amax(2)
        return F.mse_loss(worth[:, :-1], found)

    def figures(self, rows):
        return {"mae": self.game(rows, lambda _, state: self.online(state).argmax(1))[1].mean().item()}

    @classmethod
    def trivial(cls, _, test):
        return {"mae": cls.game(test, lambda _, state: torch.ones(len(state)))[1].mean().item()}


class Distillation(nn.Module):
    trivial_name = "the commonest digit"

    def __init__(self, hidden=96):
        super().__init__()
        self.teacher = nn.Sequential(nn.Flatten(), nn.Linear(784, 4 * hidden), nn.ReLU(), nn.Linear(4 * hidden, hidden), nn.ReLU(),
                                     nn.Linear(hidden, 10))
        self.student = nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def loss_of(self, phase, rows):
        x = channels_first(rows["image"], 56, 70)
        if phase == "teacher":
            return F.cross_entropy(self.teacher(x), rows["label"].long())
        with torch.no_grad():
            wanted = F.softmax(self.teacher(x) / 4, 1)
        return 16 * F.kl_div(F.log_softmax(self.student(x) / 4, 1), wanted, reduction="batchmean")

    def figures(self, rows):
        x = channels_first(rows["image"], 56, 70)
        return {name: (of(x).argmax(1) == rows["label"]).float().mean().item()
                for name, of in (("accuracy", self.student), ("accuracy_2", self.teacher))}

    @staticmethod
    def trivial(train, test):
        share = (test["label"] == train["label"].mode().values).float().mean().item()
        return {"accuracy": share, "accuracy_2": share}


class TripletEmbedding(nn.Module):
    trivial_name = "the nearest picture by its pixels"

    def __init__(self, hidden=128, code=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(784, hidden), nn.ReLU(), nn.Linear(hidden, code, bias=False))

    @staticmethod
    def picture(rows):
        return channels_first(rows["image"], 56, 70)

    def loss(self, rows):
        code, label = self.layers(self.picture(rows)), rows["label"]
        with torch.no_grad():
            distances, same = torch.cdist(code, code), label[:, None] == label
            lots = torch.where(same, torch.rand(same.shape), -1.0).fill_diagonal_(0)
            positive = lots.argmax(1)
            farther = distances > (code - code[positive]).norm(dim=1, keepdim=True)
            order = torch.where(farther, distances, 1e4 - distances)
            negative = torch.where(same, 1e9, order).argmin(1)
        return F.triplet_margin_loss(code, code[positive], code[negative], margin=1.0)

    @staticmethod
    def found(codes, labels, batch=64):
        """How often the nearest other row of a batch has a row's label."""
        hits = 0
        for code, label in zip(codes.split(batch), labels.split(batch)):
            nearest = torch.cdist(code, code).fill_diagonal_(math.inf).argmin(1)
            hits += (label[nearest] == label).sum().item()
        return {"accuracy": hits / len(labels)}

    def figures(self, rows):
        return self.found(self.layers(self.picture(rows)), rows["label"])

    @classmethod
    def trivial(cls, _, test):
        return cls.found(cls.picture(test).flatten(1), test["label"])


class WganGp(nn.Module):
    trivial_name = "a normal distribution with the real points' mean and deviation"

    def __init__(self, hidden=64):
        super().__init__()

        def network(features, results):
            return nn.Sequential(nn.Linear(features, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(),
                                 nn.Linear(hidden, results))

        self.critic, self.generator = network(2, 1), network(4, 2)

    def made(self, noise):
        return self.generator(4 * (noise - 0.5))

    def loss_of(self, phase, rows):
        made = self.made(rows["noise"])
        if phase == "generator":
            return -self.critic(made).mean()
        angle, radius = math.pi * rows["drawn"][:, :1], 0.85 + 0.3 * rows["drawn"][:, 1:]
        real, made = torch.roll(radius * torch.cat([angle.cos(), angle.sin()], 1), 1, 0), made.detach()
        between = (made + (real - made) * torch.rand(len(real), 1)).requires_grad_()
        slope, = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        return self.critic(made).mean() - self.critic(real).mean() + (slope.norm(dim=1) - 1).square().mean()

    def figures(self, _):
        return {"likeness": sliced.likeness(self.made(torch.tensor(sliced.noise())).tolist())}

    @staticmethod
    def trivial(*_):
        return {"likeness": sliced.likeness(sliced.normal())}


def auc(scores, labels):
    """How often a positive has the larger score; scores are distinct."""
    order = scores.double().argsort().numpy()
    positive = labels.numpy()[order] > 0
    ranks = numpy.arange(1, len(positive) + 1)[positive]
    n = int(positive.sum())
    return float((ranks.sum() - n * (n + 1) / 2) / (n * (len(positive) - n)))


def macro_f1(found, there, classes):
    out = []
    for k in range(classes):
        hits = ((found == k) & (there == k)).sum().item()
        out.append(2 * hits / ((found == k).sum().item() + (there == k).sum().item()))
    return sum(out) / classes


TWINS = {"recommender": Recommender, "unet": UNet, "autoencoder": Autoencoder, "vae": Vae, "siamese": Siamese, "detector": Detector,
         "vgg_small": Vgg, "alexnet_small": AlexNet, "mobilenet_small": MobileNet, "mini_resnet": MiniResnet,
         "quantile_regression": QuantileRegression, "multi_task": MultiTask, "vq_vae": VqVae, "dqn": Dqn, "distillation": Distillation,
         "triplet_embedding": TripletEmbedding, "wgan_gp": WganGp,
         "tabular_mixed": TabularMixed, "volume_segmentation": VolumeSegmentation, "photo_classifier": PhotoClassifier}


WEIGHED = nn.Conv2d, nn.ConvTranspose2d, nn.Conv3d, nn.ConvTranspose3d, nn.Linear


def start(module, init):
    """The model file's distributions: of weights init, biases zero."""
    for m in module.modules():
        if isinstance(m, WEIGHED):
            nn.init.kaiming_normal_(m.weight) if init == "he_normal" else nn.init.xavier_uniform_(m.weight)
        elif isinstance(m, nn.Embedding):
            nn.init.normal_(m.weight, std=module.std)
        if not isinstance(m, (nn.BatchNorm2d, nn.BatchNorm3d)) and getattr(m, "bias", None) is not None:
            nn.init.zeros_(m.bias)


def optimizer_of(train, parameters, steps):
    given = train["optimizer"]
    lr = given["lr"]
    peak = lr["peak"] if isinstance(lr, dict) else lr
    betas = tuple(given.get("betas", (0.9, 0.999)))
    decay = {"weight_decay": given["weight_decay"]} if "weight_decay" in given else {}
    optimizer = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[given["op"]](parameters, lr=peak, betas=betas, **decay)
    if not isinstance(lr, dict):
        return optimizer, None
    if lr["op"] == "cosine":
        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: (1 + math.cos(math.pi * s / steps)) / 2)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, total_steps=steps, cycle_momentum=False)


def players_of(module, train, steps):
    """For each phase, of which a training without phases has one: its loss of rows, its optimizer and its schedule."""
    if "phases" not in train:
        return [(module.loss, *optimizer_of(train, module.parameters(), steps))]
    return [(functools.partial(module.loss_of, phase["name"]), *optimizer_of(phase, getattr(module, phase["name"]).parameters(), steps))
            for phase in train["phases"]]


def batches(rows, count, batch, steps):
    """Epoch after epoch, each in an order of its own."""
    while True:
        for at in torch.randperm(count).split(batch):
            if steps == 0:
                return
            steps -= 1
            yield {n: v[at] for n, v in rows.items()}


def trained(module, train, rows, count):
    """Trains the module's parameters; `renew`, where it has one, follows each step."""
    batch = train["batch"]["N"]
    steps = train.get("steps") or train["epochs"] * math.ceil(count / batch)
    players = players_of(module, train, steps)
    module.train()
    for step, picked in enumerate(batches(rows, count, batch, steps), 1):
        for loss, optimizer, schedule in players:
            optimizer.zero_grad()
            loss(picked).backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()
        if hasattr(module, "renew"):
            module.renew(step)


def figures_of(name, model, rows, seed):
    torch.manual_seed(seed)
    train = model["train"]
    count = len(next(iter(rows["train"].values())))
    count -= int(count * model["data"].get("validation", {}).get("fraction", 0) + 1e-9)  # the last rows, which train nothing
    module = TWINS[name]()
    start(module, train.get("init"))
    if hasattr(module, "begin"):
        module.begin()
    trained(module, train, rows["train"], count)
    module.eval()
    with torch.no_grad():
        return {k: round(v, 5) for k, v in module.figures(rows["test"]).items()}


def model_of(path):
    lines = path.read_text().splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


def rows_of(name):
    """As Heddle's reader has them."""
    rows = {"train": {}, "test": {}}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROWS, ROOT / f"models/{name}.json", folder], check=True)
        for file in sorted(pathlib.Path(folder).glob("*.npy")):
            split, column, _ = file.name.split(".")
            rows[split][column] = torch.from_numpy(numpy.load(file))
    return rows


def main(names):
    path = HERE / "twins.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    stored, trivial = before.get("twins", {}), before.get("trivial", {})
    for name in names:
        rows = TWINS[name].read() if hasattr(TWINS[name], "read") else rows_of(name)
        stored[name] = [figures_of(name, model_of(ROOT / f"models/{name}.json"), rows, seed) for seed in SEEDS]
        print(name, *stored[name], flush=True)
        if hasattr(TWINS[name], "trivial"):
            found = TWINS[name].trivial(rows["train"], rows["test"])
            trivial[name] = {"answer": TWINS[name].trivial_name, **{k: round(v, 5) for k, v in found.items()}}
            print(name, trivial[name], flush=True)
        note = f"torch {torch.__version__.split('+')[0]}, see make_twins.py: figures of the test rows, seeds 1, 2, 3"
        twins, answers = (",\n".join(f"    {json.dumps(n)}: {json.dumps(of[n])}" for n in TWINS if n in of) for of in (stored, trivial))
        path.write_text('{\n  "note": "%s",\n  "twins": {\n%s\n  },\n  "trivial": {\n%s\n  }\n}\n' % (note, twins, answers))


if __name__ == "__main__":
    main(sys.argv[1:] or TWINS)
