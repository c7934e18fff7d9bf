import math

import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import channels_first


class Twin(nn.Module):
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
