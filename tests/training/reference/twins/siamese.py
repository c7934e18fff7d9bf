from torch import nn
from torch.nn import functional as F

from twins.parts import auc, channels_first


class Twin(nn.Module):
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
