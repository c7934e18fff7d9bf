from torch import nn

from twins.parts import Flipped


class Twin(Flipped):
    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2), nn.Conv2d(width, 2 * width, 5, padding=2), nn.ReLU(),
            nn.MaxPool2d(3, 2), nn.Conv2d(2 * width, 3 * width, 3, padding=1), nn.ReLU(), nn.Conv2d(3 * width, 2 * width, 3, padding=1),
            nn.ReLU(), nn.MaxPool2d(3, 2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(9 * 2 * width, 8 * width), nn.ReLU(),
            nn.Dropout(0.2), nn.Linear(8 * width, 5))
