"""How far two clouds of points of the plane lie apart, and those of models/wgan_gp.json, for check_training.py and make_twins.py."""
import math
import random

COUNT = 10000


def noise():
    """Rows of four numbers for the generator, the same in each call."""
    drawn = random.Random(1)
    return [[drawn.random() for _ in range(4)] for _ in range(COUNT)]


def real():
    """Points as those that the model learns from."""
    drawn = random.Random(2)
    polar = [(math.pi * drawn.random(), 0.85 + 0.3 * drawn.random()) for _ in range(COUNT)]
    return [(r * math.cos(angle), r * math.sin(angle)) for angle, r in polar]


def spread(points):
    """The mean and the deviation of each coordinate."""
    means = [sum(axis) / len(points) for axis in zip(*points)]
    return means, [math.sqrt(sum((x - m) ** 2 for x in axis) / len(points)) for axis, m in zip(zip(*points), means)]


def normal():
    """Points of a normal distribution with the mean and the deviation of the real ones."""
    drawn, (means, deviations) = random.Random(3), spread(real())
    return [[drawn.gauss(m, d) for m, d in zip(means, deviations)] for _ in range(COUNT)]


def distance(a, b, directions=32):
    """The mean over directions of the Wasserstein distance of order 1 along each (Rabin et al. 2012, doi 10.1007/978-3-642-24785-9_37)."""
    total = 0.0
    for k in range(directions):
        cos, sin = math.cos(math.pi * k / directions), math.sin(math.pi * k / directions)
        along = [sorted(cos * x + sin * y for x, y in points) for points in (a, b)]
        total += sum(abs(u - v) for u, v in zip(*along))
    return total / (directions * len(a))


def likeness(points):
    """1 where the points lie as the real ones do, 0 where they all lie in the middle of these."""
    goal = real()
    middle, _ = spread(goal)
    return 1 - distance(points, goal) / distance([middle] * COUNT, goal)
