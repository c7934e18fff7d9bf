import math

import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import channels_first


def perceptron(before, after, hidden=128):
    return nn.Sequential(nn.Linear(before, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, after, bias=False))


def encoder(width, code):
    layers, before = [], 1
    for f, stride in ((width, 2), (2 * width, 2), (4 * width, 1)):
        layers += [nn.Conv2d(before, f, 3, stride, 1, bias=False), nn.BatchNorm2d(f), nn.ReLU()]
        before = f
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * before, code, bias=False))


def uniform(n, low, high):
    return low + (high - low) * torch.rand(n)


def moved(x, degrees=10, shear=10, share=0.06, scale=0.15):
    """Turned, sheared, scaled and moved by whole pixels, each picture otherwise."""
    n, side = len(x), x.shape[-1]
    angle, skew = uniform(n, -degrees, degrees).deg2rad(), uniform(n, -shear, shear).deg2rad().tan()
    cos, sin, size = angle.cos(), angle.sin(), uniform(n, 1 - scale, 1 + scale)
    turn = torch.stack([cos - skew * sin, sin + skew * cos, -sin, cos], 1).view(n, 2, 2) / size[:, None, None]
    way = torch.round(uniform((n, 2, 1), -share * side, share * side)) * 2 / side
    grid = F.affine_grid(torch.cat([turn, -turn @ way], 2), x.shape, align_corners=False)
    return F.grid_sample(x, grid, align_corners=False)


def brightened(x, by=0.2):
    return (x * uniform((len(x), 1, 1, 1), 1 - by, 1 + by)).clamp(0, 255)


class Twin(nn.Module):
    trivial_name = "a linear probe of the pixels"

    def __init__(self, width=16, code=128, projection=32):
        super().__init__()
        self.online = nn.Sequential(encoder(width, code), perceptron(code, projection))
        self.target = nn.Sequential(encoder(width, code), perceptron(code, projection))
        self.predictor, self.probe = perceptron(projection, projection), nn.Linear(code, 10)

    def begin(self):
        self.target.load_state_dict(self.online.state_dict())

    @torch.no_grad()
    def renew(self, _):
        for to, of in zip(self.target.parameters(), self.online.parameters()):
            to += (of - to) * (1 - 0.996)
        for to, of in zip(self.target.buffers(), self.online.buffers()):
            to.copy_(of)

    @staticmethod
    def normal(x):
        return (x - 56) / 70

    def loss(self, rows):
        x = channels_first(rows["first"], std=1.0)
        first, second = self.normal(brightened(moved(x))), self.normal(moved(brightened(x)))
        code = self.online[0](first)
        guesses = [self.predictor(self.online[1](c)) for c in (code, self.online[0](second))]
        with torch.no_grad():
            goals = [self.target(second), self.target(first)]
        apart = sum(2 - 2 * F.cosine_similarity(guess, goal).mean() for guess, goal in zip(guesses, goals))
        return apart + F.cross_entropy(self.probe(code.detach()), rows["label"].long())

    def figures(self, rows):
        logits = self.probe(self.online[0](self.normal(channels_first(rows["first"], std=1.0))))
        return {"accuracy": (logits.argmax(1) == rows["label"]).float().mean().item()}

    @classmethod
    def trivial(cls, train, test, epochs=24):
        """The better of the two probes that need no training of an encoder: that of an untrained encoder reaches 0.52."""
        probe = nn.Linear(256, 10)
        of = {split: cls.normal(channels_first(rows["first"], std=1.0)).flatten(1) for split, rows in (("train", train), ("test", test))}
        steps = epochs * math.ceil(len(of["train"]) / 64)
        optimizer = torch.optim.Adam(probe.parameters(), lr=0.003)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: (1 + math.cos(math.pi * s / steps)) / 2)
        for _ in range(epochs):
            for at in torch.randperm(len(of["train"])).split(64):
                optimizer.zero_grad()
                F.cross_entropy(probe(of["train"][at]), train["label"][at].long()).backward()
                optimizer.step()
                schedule.step()
        return {"accuracy": (probe(of["test"]).argmax(1) == test["label"]).float().mean().item()}
