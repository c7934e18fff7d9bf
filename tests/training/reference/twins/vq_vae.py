import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import channels_first


class Twin(nn.Module):
    trivial_name = "the mean picture of the training rows"

    def __init__(self, words=32, code=8, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ReLU(),
                                     nn.Conv2d(2 * width, code, 1))
        self.codebook = nn.Parameter(0.05 * torch.randn(words, code))
        self.decoder = nn.Sequential(nn.ConvTranspose2d(code, 2 * width, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(2 * width, 1, 4, 2, 1), nn.Sigmoid())

    def parts(self, rows):
        x = channels_first(rows["image"])
        vectors = self.encoder(x).movedim(1, -1)
        away = self.codebook.square().sum(1) - 2 * vectors @ self.codebook.T
        chosen = self.codebook[away.argmin(-1)]
        code = vectors + (chosen - vectors).detach()
        return F.mse_loss(self.decoder(code.movedim(-1, 1)), x), vectors, chosen

    def loss(self, rows):
        error, vectors, chosen = self.parts(rows)
        return error + F.mse_loss(chosen, vectors.detach()) + 0.25 * F.mse_loss(vectors, chosen.detach())

    def figures(self, rows):
        return {"loss_mse": self.parts(rows)[0].item()}

    @staticmethod
    def trivial(train, test):
        return {"loss_mse": (channels_first(test["image"]) - channels_first(train["image"]).mean(0)).square().mean().item()}
