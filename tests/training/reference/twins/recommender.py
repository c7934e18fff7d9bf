import torch
from torch import nn
from torch.nn import functional as F

from twins.parts import auc


class Twin(nn.Module):
    std = 0.1

    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(6040, 64), nn.Embedding(3706, 64)
        self.fc1, self.fc2, self.score = nn.Linear(128, 64), nn.Linear(64, 32), nn.Linear(96, 1)

    def forward(self, user, item):
        u, i = self.users(user), self.items(item)
        h = F.relu(self.fc2(F.relu(self.fc1(torch.cat([u, i], 1)))))
        return self.score(torch.cat([u * i, h], 1)).squeeze(1)

    def loss(self, rows):
        return F.binary_cross_entropy_with_logits(self(rows["user"].long(), rows["item"].long()), rows["liked"].float())

    def figures(self, rows):
        scores = self(rows["user"].long(), rows["item"].long())
        return {"auc": auc(scores, rows["liked"])}
