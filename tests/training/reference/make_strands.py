"""Losses of PyTorch's truncated back-propagation, for tests/runtime/stateful.test: make_strands.py WEIGHTS TEXT lstm|gru|rnn

WEIGHTS are those that tests/runtime/Inputs/strands.json begins with (a training with a rate of 0 saves them), TEXT is that of
make_strands.py beside it. In doubles; the state of a window starts the next one, detached.
"""
import sys

import torch
from safetensors.torch import load_file

torch.set_default_dtype(torch.float64)
weights, text, kind = {k: v.double() for k, v in load_file(sys.argv[1]).items()}, open(sys.argv[2]).read(), sys.argv[3]
alphabet = sorted(set(text))
ids = [alphabet.index(c) for c in text[: len(text) * 8 // 10]]
STRANDS, WINDOW, TOKENS = 4, 5, 30
windows = ((len(ids) - 1) // WINDOW) // STRANDS


def cut(shift):
    begins = [[(n * windows + t) * WINDOW + shift for n in range(STRANDS)] for t in range(windows)]
    return torch.tensor([[ids[b : b + WINDOW] for b in row] for row in begins])


x, y = cut(0), cut(1)
table, head = torch.nn.Embedding(TOKENS, 6), torch.nn.Linear(9, TOKENS)
layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[kind](6, 9, 2, batch_first=True)
parameters = {"wte.weight": table.weight, "logits.weight": head.weight, "logits.bias": head.bias}
parameters |= {"rnn." + name: p for name, p in layer.named_parameters()}
with torch.no_grad():
    for name, p in parameters.items():
        p.copy_(weights[name])
optimizer = torch.optim.SGD(parameters.values(), lr=0.5)
for epoch in range(3):
    state, total = None, 0.0
    for t in range(windows):
        optimizer.zero_grad()
        out, state = layer(table(x[t]), state)
        loss = torch.nn.functional.cross_entropy(head(out).reshape(-1, TOKENS), y[t].reshape(-1))
        loss.backward()
        optimizer.step()
        total += loss.item()
        state = tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()
    print(f"{total / windows:.6f}")
