"""What several twins have in common."""
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parents[4]


def channels_first(image, mean=0.0, std=255.0):
    image = image if image.ndim == 4 else image[..., None]
    return (image.float().movedim(-1, 1) - mean) / std


def centred(image):
    return channels_first(image, 128, 64)


class Classifier(nn.Module):
    def prepare(self, rows):
        return centred(rows["image"])

    def loss(self, rows):
        return F.cross_entropy(self.layers(self.prepare(rows)), rows["label"].long())

    def figures(self, rows):
        return {"accuracy": (self.layers(self.prepare(rows)).argmax(1) == rows["label"]).float().mean().item()}


class Flipped(Classifier):
    def prepare(self, rows):
        x = centred(rows["image"])
        flip = torch.rand(len(x), 1, 1, 1) < 0.5
        return torch.where(flip, x.flip(3), x) if self.training else x


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
