from torch import nn

from twins.parts import Classifier, channels_first


class Twin(Classifier):
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
