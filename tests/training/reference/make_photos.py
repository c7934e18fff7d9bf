#!/usr/bin/env python3
"""Draws the pictures of models/photo_classifier.json: models/photos/train and models/photos/test, a folder for each class.

    python3 make_photos.py    # needs Pillow; the stored files were made with Pillow 13.0

They are as folders of pictures are: of many sizes, high or wide; most are JPEG, of which some are stored turned and say so in their Exif,
others are PNG, with or without a palette, or BMP; some are grey. Each shows a thing in a landscape: a boat, a house, a tree or a windmill.
"""
import math
import pathlib
import random
import shutil

from PIL import Image, ImageDraw, ImageFilter

PHOTOS = pathlib.Path(__file__).resolve().parents[3] / "models/photos"
CLASSES = ("boat", "house", "tree", "windmill")
FINER = 4  # drawn larger, and made smaller for smooth edges
ORIENTATION = 0x112
TURNS = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}


def boat(at, draw, body, other):
    draw.polygon(at((-0.9, 0.35), (0.9, 0.35), (0.6, 0.8), (-0.6, 0.8)), body)
    draw.polygon(at((-0.05, 0.25), (-0.05, -0.9), (-0.75, 0.25)), other)
    draw.polygon(at((0.08, 0.25), (0.08, -0.7), (0.6, 0.25)), other)


def house(at, draw, body, other):
    draw.polygon(at((-0.7, -0.1), (0.7, -0.1), (0.7, 0.8), (-0.7, 0.8)), body)
    draw.polygon(at((-0.9, -0.1), (0, -0.8), (0.9, -0.1)), other)
    draw.polygon(at((-0.15, 0.3), (0.15, 0.3), (0.15, 0.8), (-0.15, 0.8)), other)


def tree(at, draw, body, other):
    draw.polygon(at((-0.12, 0), (0.12, 0), (0.15, 0.85), (-0.15, 0.85)), body)
    for x, y, r in ((0, -0.4, 0.5), (-0.35, -0.1, 0.35), (0.35, -0.1, 0.35)):
        draw.polygon(at(*((x + r * math.cos(a / 8 * math.pi), y + r * math.sin(a / 8 * math.pi)) for a in range(16))), other)


def windmill(at, draw, body, other, turn):
    draw.polygon(at((-0.2, -0.3), (0.2, -0.3), (0.4, 0.85), (-0.4, 0.85)), body)
    for k in range(4):
        c, s = math.cos(turn + k * math.pi / 2), math.sin(turn + k * math.pi / 2)
        blade = ((0, -0.04), (0.75, -0.14), (0.75, 0.14), (0, 0.04))
        draw.polygon(at(*((c * x - s * y, -0.3 + s * x + c * y) for x, y in blade)), other)


def colour(pick, light):
    return tuple(round(min(max(light + pick.uniform(-45, 45), 0), 255)) for _ in range(3))


def picture(pick, name, width, height):
    w, h = FINER * width, FINER * height
    image = Image.new("RGB", (w, h), colour(pick, 185))
    draw = ImageDraw.Draw(image)
    horizon = h * pick.uniform(0.5, 0.8)
    draw.rectangle((0, horizon, w, h), colour(pick, 135))
    for _ in range(3):  # hills and clouds
        x, y, r = pick.uniform(0, w), pick.uniform(0, h), min(w, h) * pick.uniform(0.08, 0.2)
        draw.ellipse((x - 2 * r, y - r / 2, x + 2 * r, y + r / 2), colour(pick, 165))
    size = min(w, h) * pick.uniform(0.32, 0.46)
    middle = (w / 2 + pick.uniform(-0.1, 0.1) * min(w, h), h / 2 + pick.uniform(-0.1, 0.1) * min(w, h))
    lean = pick.uniform(-0.12, 0.12)

    def at(*points):
        return [(middle[0] + size * (x - lean * y), middle[1] + size * (y + lean * x)) for x, y in points]

    more = {"turn": pick.uniform(0, math.pi / 2)} if name == "windmill" else {}
    globals()[name](at, draw, colour(pick, 50), colour(pick, 60), **more)
    return image.filter(ImageFilter.GaussianBlur(1.5)).resize((width, height), Image.Resampling.LANCZOS)


def save(pick, image, path):
    kind = pick.random()
    if pick.random() < 0.1:
        image = image.convert("L")
    if kind < 0.7:
        exif = Image.Exif()
        if pick.random() < 0.25:
            exif[ORIENTATION] = pick.choice(sorted(TURNS))
            image = image.transpose(TURNS[exif[ORIENTATION]])
        image.save(path.with_suffix(pick.choice((".jpg", ".jpeg"))), quality=pick.randint(65, 85), exif=exif)
    elif kind < 0.95:
        (image.quantize(32) if pick.random() < 0.8 else image).save(path.with_suffix(".png"), optimize=True)
    else:
        image.save(path.with_suffix(".bmp"))


def main():
    pick = random.Random(4)
    shutil.rmtree(PHOTOS, ignore_errors=True)
    for split, count in (("train", 40), ("test", 20)):
        for name in CLASSES:
            folder = PHOTOS / split / name
            folder.mkdir(parents=True)
            for i in range(count):
                width, height = pick.randint(28, 48), pick.randint(28, 48)
                save(pick, picture(pick, name, width, height), folder / f"{i:02}")


if __name__ == "__main__":
    main()
