#!/usr/bin/env python3
"""Makes the PyTorch numbers that Heddle is compared with: the .safetensors files beside this one.

    python3 make_reference.py [NAME ...]    # needs torch and numpy; the stored files were made with torch 2.15.0 on a CPU

Per model, batch 8, dropout off, Adam as in the model file, a ring of 8 batches of random 8-bit images:

  image u8 [8,8,...], label i32 [8,8]   the batches; a step's input is image / 255 (in the run's precision); of recommender
                                        user i32, item i32, liked f32
  loss64 f64 [50]                       losses of 50 free steps in float64 from start.*[0]
  start.P f16 [50,...]                  parameters at the start of step k: a float32 training run, rounded to f16
  loss32 f32 [50]                       float32 loss at start.*[k]
  grad.P f16 [50,...], scale.P f32 [50] float32 gradient of it, divided by scale (its largest magnitude)
  final.B f64                           running statistics after the free steps

Of resnet20, which is the model's small form with its own optimizer, of recommender, whose tables have 60 and 40 rows, and of mlp at full
width only the free steps are stored (start.P has one step); mlp_narrow is the same model with hidden widths 24 and 16 (--set nodes.fc1.units=24 --set nodes.fc2.units=16). Storing f16
keeps the files small. The parameters are exact (PyTorch starts from the rounded values); the gradients lose
2^-12 relative, which is 2e-8 of normalised mean square error against the 1e-5 that the test allows.
"""
import json
import pathlib
import struct
import sys

import numpy
import torch

STEPS, RING, BATCH = 50, 8, 8
HERE = pathlib.Path(__file__).parent


def mlp(x, p):
    h = torch.relu(torch.nn.functional.linear(x, p["fc1.weight"], p["fc1.bias"]))
    h = torch.relu(torch.nn.functional.linear(h, p["fc2.weight"], p["fc2.bias"]))
    return torch.nn.functional.linear(h, p["logits.weight"], p["logits.bias"])


def mnist_cnn(x, p):
    h = x.permute(0, 3, 1, 2)  # the model's images are NHWC
    for layer in ("conv1", "conv2"):
        h = torch.relu(torch.nn.functional.conv2d(h, p[layer + ".weight"], p[layer + ".bias"]))
        h = torch.nn.functional.max_pool2d(h, 2)
    return torch.nn.functional.linear(h.permute(0, 2, 3, 1).flatten(1), p["logits.weight"], p["logits.bias"])


def resnet20(x, p):
    functional = torch.nn.functional

    def norm(h, name):
        return functional.batch_norm(h, p[name + ".running_mean"], p[name + ".running_var"], p[name + ".weight"],
                                     p[name + ".bias"], training=True)

    def block(h, name, down):
        y = functional.conv2d(h, p[name + ".conv1.weight"], stride=2 if down else 1, padding=1)
        y = functional.conv2d(torch.relu(norm(y, name + ".bn1")), p[name + ".conv2.weight"], padding=1)
        if down:  # every second pixel, zeros for the new channels
            new = y.shape[1] // 4
            h = functional.pad(h[:, :, ::2, ::2], (0, 0, 0, 0, new, new))
        return torch.relu(norm(y, name + ".bn2") + h)

    h = torch.relu(norm(functional.conv2d(x.permute(0, 3, 1, 2), p["stem.weight"], padding=1), "bn"))
    for name, _, _ in RESNET_BLOCKS:
        h = block(h, name, name.startswith("down"))
    return functional.linear(h.mean((2, 3)), p["logits.weight"], p["logits.bias"])


def recommender(p, batch, dtype):
    functional = torch.nn.functional
    u, i = functional.embedding(batch["user"], p["users.weight"]), functional.embedding(batch["item"], p["items.weight"])
    h = torch.cat([u, i], 1)
    for layer in ("fc1", "fc2"):
        h = torch.relu(functional.linear(h, p[layer + ".weight"], p[layer + ".bias"]))
    score = functional.linear(torch.cat([u * i, h], 1), p["score.weight"], p["score.bias"]).squeeze(1)
    return functional.binary_cross_entropy_with_logits(score, batch["liked"].to(dtype))


USERS, ITEMS = 60, 40


def ratings(random):
    ring = (RING, BATCH)
    return {"user": random.integers(0, USERS, ring), "item": random.integers(0, ITEMS, ring),
            "liked": random.integers(0, 2, ring).astype(numpy.float32)}


RESNET_BLOCKS = [("stage1.0", 1, 1), ("stage1.1", 1, 1), ("stage1.2", 1, 1), ("down2", 1, 2), ("stage2.0", 2, 2),
                 ("stage2.1", 2, 2), ("down3", 2, 4), ("stage3.0", 4, 4), ("stage3.1", 4, 4)]


def resnet20_shapes(width):
    shapes = {"stem.weight": (width, 1, 3, 3)}
    for name, before, after in RESNET_BLOCKS:
        shapes[name + ".conv1.weight"] = (after * width, before * width, 3, 3)
        shapes[name + ".conv2.weight"] = (after * width, after * width, 3, 3)
    for name, channels in resnet20_norms(width):
        shapes[name + ".weight"] = shapes[name + ".bias"] = (channels,)
    return {**shapes, "logits.weight": (10, 4 * width), "logits.bias": (10,)}


def resnet20_norms(width):
    return [("bn", width)] + [(f"{name}.bn{k}", after * width) for name, _, after in RESNET_BLOCKS for k in (1, 2)]


def resnet20_buffers(width):
    return {f"{name}.running_{what}": torch.full((channels,), start)
            for name, channels in resnet20_norms(width) for what, start in (("mean", 0.0), ("var", 1.0))}


def one_cycle(parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4, foreach=False)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=STEPS, cycle_momentum=False)


def adam(parameters, lr, eps):
    return torch.optim.Adam(parameters, lr=lr, betas=(0.9, 0.999), eps=eps, foreach=False)


def pictures(shape):
    def batches(random):
        return {"image": random.integers(0, 256, (RING, BATCH, *shape), dtype=numpy.uint8),
                "label": random.integers(0, 10, (RING, BATCH), dtype=numpy.int64)}
    return batches


def mlp_shapes(first, second):
    return {"fc1.weight": (first, 784), "fc1.bias": (first,), "fc2.weight": (second, first), "fc2.bias": (second,),
            "logits.weight": (10, second), "logits.bias": (10,)}


NETWORKS = {
    "mlp": dict(forward=mlp, batches=pictures((784,)), eps=1e-8, shapes=mlp_shapes(256, 128), points=False),
    "mlp_narrow": dict(forward=mlp, batches=pictures((784,)), eps=1e-8, shapes=mlp_shapes(24, 16)),
    "mnist_cnn": dict(forward=mnist_cnn, batches=pictures((28, 28, 1)), eps=1e-7, shapes={
        "conv1.weight": (32, 1, 3, 3), "conv1.bias": (32,), "conv2.weight": (64, 32, 3, 3), "conv2.bias": (64,),
        "logits.weight": (10, 1600), "logits.bias": (10,)}),
    "resnet20": dict(forward=resnet20, batches=pictures((28, 28, 1)), shapes=resnet20_shapes(4), buffers=resnet20_buffers(4),
                     optimizer=one_cycle, points=False),
    "recommender": dict(loss=recommender, batches=ratings, points=False, optimizer=lambda parameters: (adam(parameters, 2e-3, 1e-8), None),
                        shapes={
        "users.weight": (USERS, 64), "items.weight": (ITEMS, 64), "fc1.weight": (64, 128), "fc1.bias": (64,), "fc2.weight": (32, 64),
        "fc2.bias": (32,), "score.weight": (1, 96), "score.bias": (1,)}),
}


def initial(shapes):
    generator = torch.Generator().manual_seed(0)
    out = {}
    for name, shape in shapes.items():
        fan_in = max(1, int(numpy.prod(shape[1:])))
        bound = fan_in ** -0.5 if len(shape) > 1 else 0.05
        middle = 1 if len(shape) == 1 and name.endswith("weight") else 0  # a norm's
        out[name] = (middle + (torch.rand(shape, generator=generator) * 2 - 1) * bound).half()
    return out


def loss_of(network, p, batch, dtype):
    if "loss" in network:
        return network["loss"](p, batch, dtype)
    return torch.nn.functional.cross_entropy(network["forward"](batch["image"].to(dtype) / 255, p), batch["label"])


def batch_of(batches, k):
    return {n: v[k % RING] for n, v in batches.items()}


def trained(network, batches, start, dtype):
    """Yields (parameters at the start, loss, gradients) of each step of a free run."""
    p = {n: v.to(dtype).clone().requires_grad_() for n, v in start.items()}
    buffers = network["running"] = {n: v.to(dtype).clone() for n, v in network.get("buffers", {}).items()}
    if "optimizer" in network:
        optimizer, schedule = network["optimizer"](p.values())
    else:
        optimizer, schedule = adam(p.values(), 1e-3, network["eps"]), None
    for k in range(STEPS):
        before = {n: v.detach().clone() for n, v in p.items()}
        optimizer.zero_grad()
        loss = loss_of(network, {**p, **buffers}, batch_of(batches, k), dtype)
        loss.backward()
        yield before, loss.item()
        optimizer.step()
        if schedule is not None:
            schedule.step()


def at_rounded(network, batch, start):
    """Loss and gradients in float32 at f16 parameters."""
    p = {n: v.float().requires_grad_() for n, v in start.items()}
    loss = loss_of(network, p, batch, torch.float32)
    loss.backward()
    return loss.item(), {n: v.grad for n, v in p.items()}


def write(path, tensors, note):
    names = {numpy.dtype("uint8"): "U8", numpy.dtype("int32"): "I32", numpy.dtype("float16"): "F16",
             numpy.dtype("float32"): "F32", numpy.dtype("float64"): "F64"}
    header, at = {"__metadata__": {"note": note}}, 0
    for name, a in tensors.items():
        header[name] = dict(dtype=names[a.dtype], shape=list(a.shape), data_offsets=[at, at + a.nbytes])
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for a in tensors.values():
            f.write(numpy.ascontiguousarray(a).tobytes())


def make(name, network):
    random = numpy.random.default_rng(1)
    batches = {n: torch.from_numpy(v) for n, v in network["batches"](random).items()}
    start = initial(network["shapes"])
    out = {"loss64": numpy.array([loss for _, loss in trained(network, batches, start, torch.float64)])}
    out.update({"final." + n: v.numpy() for n, v in network["running"].items()})
    if network.get("points", True):
        out.update(at_points(network, batches, start))
    else:
        out.update({"start." + n: v[None].numpy() for n, v in start.items()})
    out.update({n: v.numpy().astype(numpy.int32) if v.dtype == torch.int64 else v.numpy() for n, v in batches.items()})
    # The widest elements first, so that every tensor is aligned.
    out = dict(sorted(out.items(), key=lambda item: -item[1].itemsize))
    write(HERE / f"{name}.safetensors", out, f"torch {torch.__version__.split('+')[0]}, see make_reference.py")
    print(name, "loss", out["loss64"][0], "->", out["loss64"][-1])


def at_points(network, batches, start):
    """Parameters, losses and gradients at 50 starting points."""
    rounded = [{n: v.half() for n, v in p.items()} for p, _ in trained(network, batches, start, torch.float32)]
    points = [at_rounded(network, batch_of(batches, k), p) for k, p in enumerate(rounded)]
    out = {"loss32": numpy.array([loss for loss, _ in points], numpy.float32)}
    for n in network["shapes"]:
        gradient = numpy.stack([g[n].numpy() for _, g in points])
        scale = numpy.abs(gradient).reshape(STEPS, -1).max(1).clip(1e-30)
        out["start." + n] = numpy.stack([p[n].numpy() for p in rounded])
        out["scale." + n] = scale.astype(numpy.float32)
        out["grad." + n] = (gradient / scale.reshape(-1, *[1] * (gradient.ndim - 1))).astype(numpy.float16)
    return out


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:] or NETWORKS:
        make(name, NETWORKS[name])
