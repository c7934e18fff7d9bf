import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import centred, macro_f1


class Twin(nn.Module):
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
