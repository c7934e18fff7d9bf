from torch import nn
from torch.nn import functional as F

from twins.parts import Classifier, channels_first


class Halving(nn.Module):
    """Two convolutions beside one of a pixel, all with norms."""

    def __init__(self, before, f):
        super().__init__()
        self.long = nn.Sequential(nn.Conv2d(before, f, 3, 2, 1, bias=False), nn.BatchNorm2d(f), nn.ReLU(),
                                  nn.Conv2d(f, f, 3, 1, 1, bias=False), nn.BatchNorm2d(f))
        self.short = nn.Sequential(nn.Conv2d(before, f, 1, 2, bias=False), nn.BatchNorm2d(f))

    def forward(self, x):
        return F.relu(self.long(x) + self.short(x))


class Twin(Classifier):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), Halving(8, 16), Halving(16, 32),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))

    def prepare(self, rows):
        return channels_first(rows["image"])
