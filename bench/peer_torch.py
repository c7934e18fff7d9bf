"""A network's training step in PyTorch, for peers.py: peer_torch.py NETWORK eager|eager_nhwc|compile|compile_nhwc THREADS

Prints its version when warm; then, for each line with a number of seconds, the milliseconds of a step over about that time.
"""
import sys

import torch
import torch.nn.functional as F
from torch import nn

from peer_clock import BATCHES, HEAD_WIDTH, HEADS, ITEMS, LENGTHS, USERS, VOCABULARIES, WIDTHS, ring_of, serve


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(784, 128), nn.Linear(128, 10)

    def forward(self, x, label):
        return F.cross_entropy(self.fc2(F.relu(self.fc1(x))), label)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3), nn.Linear(1600, 10)

    def forward(self, x, label):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.cross_entropy(self.fc(F.dropout(x.flatten(1), 0.5)), label)


class Block(nn.Module):
    """A residual block; where it halves the image, its shortcut is every second pixel, with zeros for the new channels."""

    def __init__(self, before, filters):
        super().__init__()
        self.new = filters - before
        self.conv1 = nn.Conv2d(before, filters, 3, 2 if self.new else 1, 1, bias=False)
        self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(filters), nn.BatchNorm2d(filters)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.new:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.new // 2, self.new // 2))
        return F.relu(y + x)


class Resnet20(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
        self.stem, self.bn = nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.blocks = nn.Sequential(*(Block(a, b) for a, b in zip(widths, widths[1:])))
        self.logits = nn.Linear(64, 10)

    def forward(self, x, label):
        x = self.blocks(F.relu(self.bn(self.stem(x))))
        return F.cross_entropy(self.logits(x.mean((2, 3))), label)


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(USERS, 64), nn.Embedding(ITEMS, 64)
        self.fc1, self.fc2, self.score = nn.Linear(128, 64), nn.Linear(64, 32), nn.Linear(96, 1)

    def forward(self, user, item, liked):
        user, item = self.users(user), self.items(item)
        tower = F.relu(self.fc2(F.relu(self.fc1(torch.cat([user, item], 1)))))
        logit = self.score(torch.cat([user * item, tower], 1)).squeeze(1)
        return F.binary_cross_entropy_with_logits(logit, liked)


class Decoder(nn.Module):
    """A layer of GPT-2: causal attention of 4 heads and a feed-forward network, each added to what it reads."""

    def __init__(self, width):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.qkv(self.ln_1(x)).chunk(3, -1))
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class CharGpt(nn.Module):
    def __init__(self, length, width, vocabulary):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(length, width) * 0.02)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.blocks, self.ln_f = nn.Sequential(*(Decoder(width) for _ in range(4))), nn.LayerNorm(width)

    def forward(self, tokens, targets):
        logits = F.linear(self.ln_f(self.blocks(self.wte(tokens) + self.wpe)), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Recurrent(nn.Module):
    def __init__(self, kind, width, vocabulary, **settings):
        super().__init__()
        self.chars, self.rnn = nn.Embedding(vocabulary, width), kind(width, width, batch_first=True, **settings)
        self.logits = nn.Linear(width * (2 if settings else 1), vocabulary)

    def forward(self, tokens, targets):
        return F.cross_entropy(self.logits(self.rnn(self.chars(tokens))[0]).flatten(0, 1), targets.flatten())


class Attention(nn.Module):
    def __init__(self, length, causal):
        super().__init__()
        self.q, self.k, self.v = (nn.Parameter(torch.randn(length, HEADS * HEAD_WIDTH)) for _ in range(3))
        self.causal = causal

    def forward(self, x, target):
        q, k, v = ((x + p).unflatten(2, (HEADS, HEAD_WIDTH)).transpose(1, 2) for p in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return F.mse_loss(y.transpose(1, 2).flatten(2), target)


def images(*shape):
    return lambda n: (torch.randn((n, *shape)), torch.randint(0, 10, (n,)))


def ratings(n):
    return torch.randint(0, USERS, (n,)), torch.randint(0, ITEMS, (n,)), torch.randint(0, 2, (n,)).float()


def texts(network):
    return lambda n: tuple(torch.randint(0, VOCABULARIES[network], (n, LENGTHS[network])) for _ in range(2))


def recurrent(network, kind, **settings):
    return lambda: Recurrent(kind, WIDTHS[network], VOCABULARIES[network], **settings), texts(network), adam


def attention(network):
    length = int(network.rpartition("_")[2])
    shape = (length, HEADS * HEAD_WIDTH)
    return lambda: Attention(length, "causal" in network), lambda n: (torch.randn(n, *shape), torch.randn(n, *shape)), plain_sgd


# The rate is tiny: random labels learnt by heart would give denormal gradients, which no real training has.
def plain_sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-6)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-6, fused=True)


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=1e-6, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-6, betas=(0.9, 0.95), weight_decay=0.1, fused=True)


NETWORKS = {
    "mnist_mlp": (Mlp, images(784), adam),
    "mnist_cnn": (Cnn, images(1, 28, 28), adam),
    "resnet20": (Resnet20, images(1, 28, 28), sgd),
    "recommender": (Recommender, ratings, adam),
    "char_gpt": (lambda: CharGpt(LENGTHS["char_gpt"], WIDTHS["char_gpt"], VOCABULARIES["char_gpt"]), texts("char_gpt"), adamw),
    "lstm_names": recurrent("lstm_names", nn.LSTM),
    "gru_names": recurrent("gru_names", nn.GRU),
    "bilstm_names": recurrent("bilstm_names", nn.LSTM, bidirectional=True),
    "lstm_200": recurrent("lstm_200", nn.LSTM),
    **{name: attention(name) for name in BATCHES if name.startswith("attention")},
}


def main():
    network, mode, threads = sys.argv[1:]
    torch.manual_seed(0)
    torch.set_num_threads(int(threads))
    module, draw, optimizer_of = NETWORKS[network]
    model, ring = module(), [draw(BATCHES[network]) for _ in range(ring_of(network))]
    if mode.endswith("nhwc"):
        model = model.to(memory_format=torch.channels_last)
        ring = [(x.contiguous(memory_format=torch.channels_last), label) for x, label in ring]
    optimizer = optimizer_of(model.parameters())
    loss_of = torch.compile(model) if mode.startswith("compile") else model

    def run(steps):
        for step in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(*ring[step % len(ring)])
            loss.backward()
            optimizer.step()
        loss.item()

    serve(torch.__version__, run)


main()
