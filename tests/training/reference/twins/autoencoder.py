from torch import nn
from torch.nn import functional as F

from twins.parts import channels_first


class Twin(nn.Module):
    def __init__(self, code=32, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
                                     nn.Flatten(), nn.Linear(49 * 2 * width, code))
        self.decoder = nn.Sequential(nn.Linear(code, 49 * 2 * width), nn.ReLU(), nn.Unflatten(1, (2 * width, 7, 7)),
                                     nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(width, 1, 4, 2, 1), nn.Sigmoid())

    def loss(self, rows):
        x = channels_first(rows["image"])
        return F.mse_loss(self.decoder(self.encoder(x)), x)

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}
