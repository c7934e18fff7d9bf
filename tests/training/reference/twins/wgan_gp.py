import math

import torch
from torch import nn

import sliced


class Twin(nn.Module):
    trivial_name = "a normal distribution with the real points' mean and deviation"

    def __init__(self, hidden=64):
        super().__init__()

        def network(features, results):
            return nn.Sequential(nn.Linear(features, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(),
                                 nn.Linear(hidden, results))

        self.critic, self.generator = network(2, 1), network(4, 2)

    def made(self, noise):
        return self.generator(4 * (noise - 0.5))

    def loss_of(self, phase, rows):
        made = self.made(rows["noise"])
        if phase == "generator":
            return -self.critic(made).mean()
        angle, radius = math.pi * rows["drawn"][:, :1], 0.85 + 0.3 * rows["drawn"][:, 1:]
        real, made = torch.roll(radius * torch.cat([angle.cos(), angle.sin()], 1), 1, 0), made.detach()
        between = (made + (real - made) * torch.rand(len(real), 1)).requires_grad_()
        slope, = torch.autograd.grad(self.critic(between).sum(), between, create_graph=True)
        return self.critic(made).mean() - self.critic(real).mean() + (slope.norm(dim=1) - 1).square().mean()

    def figures(self, _):
        return {"likeness": sliced.likeness(self.made(torch.tensor(sliced.noise())).tolist())}

    @staticmethod
    def trivial(*_):
        return {"likeness": sliced.likeness(sliced.normal())}
