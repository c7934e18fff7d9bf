"""A network's training step in JAX and optax, for peers.py: peer_jax.py NETWORK jit|scan THREADS

`scan` does many steps in one dispatch. Prints as peer_torch.py does. XLA takes as many threads as the process may use processors.
"""
import math
import os
import sys

network, mode, threads = sys.argv[1:]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import optax

from peer_clock import BATCHES, HEAD_WIDTH, HEADS, ITEMS, LENGTHS, USERS, VOCABULARIES, ring_of, serve
from peer_clock import WIDTHS as UNITS

BATCH, RING = BATCHES[network], ring_of(network)
STEPS = 128 if mode == "scan" else 1  # in one dispatch
WIDTHS = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]  # of resnet20: what its blocks read and write
random = np.random.default_rng(0)


def kernel(*shape):
    return random.standard_normal(shape, np.float32) / math.sqrt(math.prod(shape[:-1]))


def weights(*shape):
    return {"w": kernel(*shape), "b": np.zeros(shape[-1], np.float32)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def conv(w, x, stride=1, padding="SAME"):
    pad = [(1, 1), (1, 1)] if padding == "SAME" else padding  # as PyTorch pads where the stride is 2, too
    return jax.lax.conv_general_dilated(x, w, (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_block(p, x):
    x = jax.nn.relu(conv(p["w"], x, padding="VALID") + p["b"])
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


# Forward: parameters, statistics, key, inputs -> logits, statistics.
def mlp(p, stats, key, x):
    return dense(p["fc2"], jax.nn.relu(dense(p["fc1"], x))), stats


def cnn(p, stats, key, x):
    x = conv_block(p["conv2"], conv_block(p["conv1"], x)).reshape(BATCH, -1)
    return dense(p["fc"], jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x * 2, 0)), stats


def batch_norm(p, stats, x):
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    unbiased = variance * (x.size // x.shape[-1]) / (x.size // x.shape[-1] - 1)
    stats = {"mean": 0.9 * stats["mean"] + 0.1 * mean, "var": 0.9 * stats["var"] + 0.1 * unbiased}
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["w"] + p["b"], stats


def resnet20(p, stats, key, x):
    x, stem = batch_norm(p["bn"], stats[0], conv(p["stem"], x))
    x, renewed = jax.nn.relu(x), [stem]
    for block, old in zip(p["blocks"], stats[1:]):
        new = block["conv2"].shape[-1] - x.shape[-1]
        y, first = batch_norm(block["bn1"], old[0], conv(block["conv1"], x, 2 if new else 1))
        y, second = batch_norm(block["bn2"], old[1], conv(block["conv2"], jax.nn.relu(y)))
        if new:
            x = jnp.pad(x[:, ::2, ::2], ((0, 0), (0, 0), (0, 0), (new // 2, new // 2)))
        x = jax.nn.relu(y + x)
        renewed.append((first, second))
    return dense(p["logits"], x.mean((1, 2))), renewed


def recommender(p, stats, key, user, item):
    user, item = p["users"][user], p["items"][item]
    tower = jax.nn.relu(dense(p["fc2"], jax.nn.relu(dense(p["fc1"], jnp.concatenate([user, item], 1)))))
    return dense(p["score"], jnp.concatenate([user * item, tower], 1))[:, 0], stats


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * p["w"] + p["b"]


def attend(x):
    q, k, v = (part.reshape(*part.shape[:2], 4, -1) for part in jnp.split(x, 3, -1))
    return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(*x.shape[:2], -1)


def char_gpt(p, stats, key, tokens):
    x = p["wte"][tokens] + p["wpe"]
    for q in p["blocks"]:
        x = x + dense(q["proj"], attend(dense(q["qkv"], layer_norm(q["ln_1"], x))))
        x = x + dense(q["out"], jax.nn.gelu(dense(q["fc"], layer_norm(q["ln_2"], x))))
    return layer_norm(p["ln_f"], x) @ p["wte"].T, stats


# One product for the inputs of all steps, then the steps: x [time, batch, width].
def lstm(p, x):
    def cell(carry, gates):
        h, c = carry
        i, f, g, o = jnp.split(gates + dense(p["hidden"], h), 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zero = jnp.zeros_like(x[0])
    return jax.lax.scan(cell, (zero, zero), dense(p["input"], x))[1]


def gru(p, x):
    def cell(h, gates):
        (ir, iz, n), (hr, hz, hn) = jnp.split(gates, 3, -1), jnp.split(dense(p["hidden"], h), 3, -1)
        r, z = jax.nn.sigmoid(ir + hr), jax.nn.sigmoid(iz + hz)
        h = (1 - z) * jnp.tanh(n + r * hn) + z * h
        return h, h
    return jax.lax.scan(cell, jnp.zeros_like(x[0]), dense(p["input"], x))[1]


def recurrent(layer):
    def forward(p, stats, key, tokens):
        x = p["chars"][tokens.T]
        y = layer(p["rnn"], x)
        if "back" in p:
            y = jnp.concatenate([y, layer(p["back"], x[::-1])[::-1]], -1)
        return dense(p["logits"], y).swapaxes(0, 1), stats
    return forward


def attention(p, stats, key, x):
    q, k, v = ((x + p[name]).reshape(*x.shape[:2], HEADS, HEAD_WIDTH) for name in "qkv")
    return jax.nn.dot_product_attention(q, k, v, is_causal="causal" in network).reshape(x.shape), stats


def attention_network():
    shape = (int(network.rpartition("_")[2]), HEADS * HEAD_WIDTH)
    draw = lambda: tuple(random.standard_normal((BATCH, *shape), np.float32) for _ in range(2))
    params = {name: random.standard_normal(shape, np.float32) for name in "qkv"}
    return attention, params, [], draw, lambda y, target: jnp.square(y - target), optax.sgd(1e-6)


def recurrent_network(layer, gates, directions=1):
    d, words = UNITS[network], VOCABULARIES[network]
    names = ["rnn", "back"][:directions]
    params = {name: {"input": weights(d, gates * d), "hidden": weights(d, gates * d)} for name in names}
    params |= {"chars": kernel(words, d), "logits": weights(directions * d, words)}
    return recurrent(layer), params, [], texts, classes, adam


def gpt_network():
    d, words = UNITS[network], VOCABULARIES[network]
    layers = [{"ln_1": scale(d), "qkv": weights(d, 3 * d), "proj": weights(d, d), "ln_2": scale(d), "fc": weights(d, 4 * d),
               "out": weights(4 * d, d)} for _ in range(4)]
    params = {"wte": kernel(words, d), "wpe": kernel(LENGTHS[network], d), "blocks": layers, "ln_f": scale(d)}
    return char_gpt, params, [], texts, classes, optax.adamw(1e-6, b1=0.9, b2=0.95, weight_decay=0.1)


def texts():
    return tuple(random.integers(0, VOCABULARIES[network], (BATCH, LENGTHS[network]), np.int32) for _ in range(2))


def scale(n):
    return {"w": np.ones(n, np.float32), "b": np.zeros(n, np.float32)}


def running(n):
    return {"mean": np.zeros(n, np.float32), "var": np.ones(n, np.float32)}


def block(before, filters):
    return {"conv1": kernel(3, 3, before, filters), "bn1": scale(filters),
            "conv2": kernel(3, 3, filters, filters), "bn2": scale(filters)}


def images(*shape):
    return lambda: (random.standard_normal((BATCH, *shape), np.float32), random.integers(0, 10, BATCH, np.int32))


def ratings():
    return (random.integers(0, USERS, BATCH, np.int32), random.integers(0, ITEMS, BATCH, np.int32),
            random.integers(0, 2, BATCH).astype(np.float32))


classes, likes = optax.softmax_cross_entropy_with_integer_labels, optax.sigmoid_binary_cross_entropy
adam = optax.adam(1e-6)
sgd = optax.chain(optax.add_decayed_weights(5e-4), optax.sgd(1e-6, momentum=0.9, nesterov=True))
# Forward, parameters, statistics, a random batch, the loss, the optimizer.
NETWORKS = {
    "mnist_mlp": lambda: (mlp, {"fc1": weights(784, 128), "fc2": weights(128, 10)}, [], images(784), classes, adam),
    "mnist_cnn": lambda: (cnn, {"conv1": weights(3, 3, 1, 32), "conv2": weights(3, 3, 32, 64), "fc": weights(1600, 10)}, [],
                          images(28, 28, 1), classes, adam),
    "resnet20": lambda: (resnet20, {"stem": kernel(3, 3, 1, 16), "bn": scale(16),
                                    "blocks": [block(a, b) for a, b in zip(WIDTHS, WIDTHS[1:])], "logits": weights(64, 10)},
                         [running(16)] + [(running(n), running(n)) for n in WIDTHS[1:]], images(28, 28, 1), classes, sgd),
    "recommender": lambda: (recommender, {"users": kernel(USERS, 64), "items": kernel(ITEMS, 64), "fc1": weights(128, 64),
                                          "fc2": weights(64, 32), "score": weights(96, 1)}, [], ratings, likes, adam),
    "char_gpt": gpt_network,
    "lstm_names": lambda: recurrent_network(lstm, 4),
    "gru_names": lambda: recurrent_network(gru, 3),
    "bilstm_names": lambda: recurrent_network(lstm, 4, directions=2),
    "lstm_200": lambda: recurrent_network(lstm, 4),
    **{name: attention_network for name in BATCHES if name.startswith("attention")},
}


def main():
    forward, params, stats, draw, loss_of, update = NETWORKS[network]()
    data = [draw() for _ in range(RING)]

    def loss(p, stats, key, *batch):
        result, stats = forward(p, stats, key, *batch[:-1])
        return loss_of(result, batch[-1]).mean(), stats

    def step(state, *batch):
        p, stats, slots, key = state
        key, dropout = jax.random.split(key)
        (value, stats), gradient = jax.value_and_grad(loss, has_aux=True)(p, stats, dropout, *batch)
        change, slots = update.update(gradient, slots, p)
        return (optax.apply_updates(p, change), stats, slots, key), value

    def many(state, *ring):
        return jax.lax.fori_loop(0, STEPS, lambda i, s: step(s, *(part[i % RING] for part in ring))[0], state), 0

    state = jax.device_put((params, stats, jax.jit(update.init)(params), jax.random.key(0)))
    dispatch = jax.jit(step if STEPS == 1 else many, donate_argnums=0)
    ring = jax.device_put(data if STEPS == 1 else [tuple(np.stack(part) for part in zip(*data))])

    def run(steps):
        nonlocal state
        for i in range(steps // STEPS):
            state, _ = dispatch(state, *ring[i % len(ring)])
        jax.block_until_ready(state)

    serve(jax.__version__, run, STEPS)


main()
