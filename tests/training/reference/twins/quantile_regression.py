import math

import torch
from torch import nn


class Twin(nn.Module):
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
