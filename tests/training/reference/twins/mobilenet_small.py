from torch import nn

from twins.parts import Flipped


class Twin(Flipped):
    def __init__(self, width=16):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()]
        before = width
        for f, stride in ((2 * width, 1), (4 * width, 2), (4 * width, 1), (8 * width, 2)):
            layers += [nn.Conv2d(before, before, 3, stride, 1, groups=before, bias=False), nn.BatchNorm2d(before), nn.ReLU6(),
                       nn.Conv2d(before, f, 1, bias=False), nn.BatchNorm2d(f), nn.ReLU6()]
            before = f
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 5))
