import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import channels_first


class Twin(nn.Module):
    def __init__(self, code=8, hidden=256):
        super().__init__()
        self.encoder, self.moments = nn.Linear(784, hidden), nn.Linear(hidden, 2 * code)
        self.decoder, self.logits = nn.Linear(code, hidden), nn.Linear(hidden, 784)

    def loss(self, rows):
        x = channels_first(rows["image"]).flatten(1)
        mean, log_variance = self.moments(F.relu(self.encoder(x))).chunk(2, 1)
        code = mean + torch.exp(log_variance / 2) * torch.randn_like(mean) if self.training else mean
        kl = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum(1).mean()
        return F.binary_cross_entropy_with_logits(self.logits(F.relu(self.decoder(code))), x) + kl / 784

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}
