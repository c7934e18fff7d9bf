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

from peer_clock import BATCH, RING, serve

STEPS = 128 if mode == "scan" else 1  # in one dispatch
random = np.random.default_rng(0)


def weights(*shape):
    return {"w": random.standard_normal(shape, np.float32) / math.sqrt(math.prod(shape[:-1])), "b": np.zeros(shape[-1], np.float32)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def conv_block(p, x):
    x = jax.lax.conv_general_dilated(x, p["w"], (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.nn.relu(x + p["b"])
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def mlp(p, key, x):
    return dense(p["fc2"], jax.nn.relu(dense(p["fc1"], x)))


def cnn(p, key, x):
    x = conv_block(p["conv2"], conv_block(p["conv1"], x)).reshape(BATCH, -1)
    return dense(p["fc"], jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x * 2, 0))


def main():
    images = network == "mnist_cnn"
    if images:
        forward, shape = cnn, (BATCH, 28, 28, 1)
        params = {"conv1": weights(3, 3, 1, 32), "conv2": weights(3, 3, 32, 64), "fc": weights(1600, 10)}
    else:
        forward, shape = mlp, (BATCH, 784)
        params = {"fc1": weights(784, 128), "fc2": weights(128, 10)}
    update = optax.adam(1e-6)
    data = [(random.standard_normal(shape, np.float32), random.integers(0, 10, BATCH, np.int32)) for _ in range(RING)]

    def loss(p, key, x, label):
        return optax.softmax_cross_entropy_with_integer_labels(forward(p, key, x), label).mean()

    def step(state, x, label):
        p, slots, key = state
        key, dropout = jax.random.split(key)
        value, gradient = jax.value_and_grad(loss)(p, dropout, x, label)
        change, slots = update.update(gradient, slots, p)
        return (optax.apply_updates(p, change), slots, key), value

    def many(state, xs, labels):
        return jax.lax.fori_loop(0, STEPS, lambda i, s: step(s, xs[i % RING], labels[i % RING])[0], state), 0

    state = jax.device_put((params, jax.jit(update.init)(params), jax.random.key(0)))
    dispatch = jax.jit(step if STEPS == 1 else many, donate_argnums=0)
    ring = jax.device_put(data if STEPS == 1 else [tuple(np.stack(part) for part in zip(*data))])

    def run(steps):
        nonlocal state
        for i in range(steps // STEPS):
            state, _ = dispatch(state, *ring[i % len(ring)])
        jax.block_until_ready(state)

    serve(jax.__version__, run, STEPS)


main()
