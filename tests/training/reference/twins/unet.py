import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import centred


def double(before, f):
    return nn.Sequential(nn.Conv2d(before, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU(),
                         nn.Conv2d(f, f, 3, padding=1, bias=False), nn.BatchNorm2d(f), nn.ReLU())


class Up(nn.Module):
    def __init__(self, before, f):
        super().__init__()
        self.larger, self.y = nn.ConvTranspose2d(before, f, 2, 2), double(2 * f, f)

    def forward(self, x, seen):
        return self.y(torch.cat([seen, self.larger(x)], 1))


class Twin(nn.Module):
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
