"""Writes picture_maps.txt: what torchvision makes of small pictures, with parameters that are drawn as Heddle draws them.

    python picture_maps.py > picture_maps.txt        (torchvision 0.29, numpy)

The words of a row are Philox4x32-7 of (seed, epoch, row, place in the list), as docs/data.md says; from them parameters
follow by torchvision's documented rules, and torchvision.transforms.functional computes the picture in double. Grey is
0.299 red + 0.587 green + 0.114 blue here; torchvision's tensors take 0.2989, so that what looks at grey is written down.
"""
import math

import numpy as np
import torch
from torchvision.transforms import InterpolationMode as Mode
from torchvision.transforms import functional as F

SEED, EPOCH, HEIGHT, WIDTH, ROWS = (1 << 40) + 11, 3, 5, 7, 3
MASK, F32 = (1 << 32) - 1, np.float32


def fold(v):
    return (v & MASK) ^ (v >> 32)


def philox(counter, k0, k1):
    x, y, z, w = counter
    for _ in range(7):
        a, b = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = (b >> 32) ^ y ^ k0, b & MASK, (a >> 32) ^ w ^ k1, a & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return x, y, z, w


def draw(row, place):
    group = row * 64 + place
    return philox((group & MASK, group >> 32, EPOCH, 0), fold(SEED), fold(0x706963747572))


def more(words, n):
    x, y, z, w = words
    return philox((z, w, n, 0), fold(y << 32 | x), fold(0x6D6F7265))


def unit(word):
    return F32(word >> 8) * F32(2.0 ** -24)


def between(word, low, high):
    low, high = F32(low), F32(high)
    return low + (high - low) * unit(word)


def below(word, n):
    return word * n >> 32


def window(words, scale, ratio, across):
    for n in range(10):
        w = more(words, n)
        area = HEIGHT * WIDTH * float(between(w[0], *scale))
        aspect = math.exp(float(between(w[1], math.log(ratio[0]), math.log(ratio[1]))))
        sides = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
        h, v = sides if across else sides[::-1]
        fits = 0 < h <= HEIGHT and 0 < v <= WIDTH if across else 0 < h < HEIGHT and 0 < v < WIDTH
        if fits:
            return below(w[2], HEIGHT - h + 1), below(w[3], WIDTH - v + 1), h, v
    if not across:
        return None
    h, v = HEIGHT, WIDTH
    if v / h < ratio[0]:
        h = round(v / ratio[0])
    elif v / h > ratio[1]:
        v = round(h * ratio[1])
    return (HEIGHT - h) // 2, (WIDTH - v) // 2, h, v


def grey(x):
    return x if x.shape[0] == 1 else (0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2])[None]


def mode(map):
    return Mode.NEAREST if map.get("filter") else Mode.BILINEAR


def apply(map, words, x):
    op = map["op"]
    if op == "random_resized_crop":
        top, left, h, w = window(words, map.get("scale", (0.08, 1)), map.get("ratio", (3 / 4, 4 / 3)), True)
        return F.resized_crop(x, top, left, h, w, [HEIGHT, WIDTH], mode(map), antialias=not map.get("filter"))
    if op == "grayscale":
        return grey(x).expand(x.shape) if unit(words[0]) < F32(map["probability"]) else x
    if op == "color_jitter":
        white = map.get("white", 255)
        b, c, s = (float(between(w, max(1 - r, 0), 1 + r)) if r > 0 else 1.0
                   for w, r in zip(words, (map.get(k, 0) for k in ("brightness", "contrast", "saturation"))))
        x = (b * x).clamp(0, white)
        if map.get("contrast"):
            x = (c * x + (1 - c) * grey(x).mean()).clamp(0, white)
        if map.get("saturation"):
            x = (s * x + (1 - s) * grey(x)).clamp(0, white)
        hue = map.get("hue", 0)
        return F.adjust_hue(x / white, float(between(words[3], -hue, hue))) * white if hue else x
    if op == "random_erase":
        hole = window(words, map.get("scale", (0.02, 0.33)), map.get("ratio", (0.3, 3.3)), False)
        if unit(words[0]) < F32(map["probability"]) and hole:
            x = F.erase(x, *hole, torch.tensor(float(map.get("fill", 0)), dtype=x.dtype))
        return x
    fill = [float(map["fill"])] if map.get("fill") else None
    if op == "rotate":
        angle = float(between(words[0], map["degrees"], -map["degrees"]))
        return F.rotate(x, -angle, mode(map), fill=fill)
    if op == "affine":
        other = more(words, 0)
        down, right = map.get("translate", (0, 0))
        move = [round(float(between(w, -share * side, share * side)))
                for w, share, side in ((words[2], right, WIDTH), (words[1], down, HEIGHT))]
        return F.affine(x, float(between(words[0], -map["degrees"], map["degrees"])), move,
                        float(between(words[3], *map.get("scale", (1, 1)))),
                        [float(between(other[0], -map["shear"], map["shear"])), 0.0], mode(map), fill)
    if op == "blur":
        return F.gaussian_blur(x, [map["kernel"]] * 2, [float(between(words[0], *map.get("sigma", (0.1, 2))))] * 2)
    if op == "flip":
        return F.hflip(x) if unit(words[0]) < F32(map["probability"]) else x
    if op == "scale":
        return x * map["by"]
    raise ValueError(op)


JITTER = {"op": "color_jitter", "brightness": 0.4, "contrast": 0.5, "saturation": 0.6, "hue": 0.2}
CASES = [
    (3, [{"op": "random_resized_crop"}]),
    (1, [{"op": "random_resized_crop", "scale": (0.2, 0.6), "ratio": (0.5, 2), "filter": 1}]),
    (3, [{"op": "random_resized_crop", "scale": (1, 1), "ratio": (3, 4)}]),
    (3, [{"op": "grayscale", "probability": 0.8}]),
    (3, [JITTER]),
    (3, [{"op": "color_jitter", "saturation": 2, "hue": 0.5, "white": 200}]),
    (1, [{"op": "color_jitter", "brightness": 1.5, "contrast": 1}]),
    (3, [{"op": "random_erase", "probability": 0.8, "fill": 7}]),
    (3, [{"op": "rotate", "degrees": 60}]),
    (1, [{"op": "rotate", "degrees": 180, "filter": 1, "fill": 9}]),
    (3, [{"op": "affine", "degrees": 30, "translate": (0.3, 0.2), "scale": (0.7, 1.4), "shear": 20}]),
    (1, [{"op": "affine", "degrees": 10, "translate": (0, 0.5), "shear": 40, "filter": 1, "fill": 5}]),
    (3, [{"op": "blur", "kernel": 3}]),
    (1, [{"op": "blur", "kernel": 9, "sigma": (1, 3)}]),
    (3, [{"op": "blur", "kernel": 3}, {"op": "flip", "probability": 0.5}, {"op": "rotate", "degrees": 20}, JITTER,
         {"op": "scale", "by": 0.5}, {"op": "random_erase", "probability": 0.5, "fill": 100}]),
]


# The text of a list says all keys but pairs.
DEFAULTS = {"color_jitter": {"brightness": 0, "contrast": 0, "saturation": 0, "hue": 0, "white": 255},
            "rotate": {"fill": 0}, "affine": {"fill": 0}}


def text(map):
    def number(v):
        return " ".join(repr(float(n)) for n in v) if isinstance(v, tuple) else repr(float(v))
    whole = {**DEFAULTS.get(map["op"], {}), **map}
    return "%s(%s)" % (map["op"], ", ".join("%s = %s" % (k, number(v)) for k, v in whole.items() if k != "op"))


for channels, maps in CASES:
    print("%d %s" % (channels, "; ".join(text(m) for m in maps)))
    for row in range(ROWS):
        elements = HEIGHT * WIDTH * channels
        x = torch.tensor([(row * elements + i) * 29 % 256 for i in range(elements)], dtype=torch.float64)
        x = x.reshape(HEIGHT, WIDTH, channels).permute(2, 0, 1)
        for place, map in enumerate(maps):
            x = apply(map, draw(row, place), x)
        print(" ".join("%.6g" % v for v in x.permute(1, 2, 0).reshape(-1).tolist()))
