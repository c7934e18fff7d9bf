"""Rows of settings that hold every pair of two settings' values at least once.

    covering({"a": [1, 2], "b": [1, 2], "c": [1, 2]}, seed=1)  ->  4 or 5 rows instead of 8

Greedy (Cohen et al. 1997): each row is the best of some candidates, each of which begins with a pair that is missing and then takes, setting by
setting in a random order, the value that brings most missing pairs. What `allowed` refuses, of a part of a row too, is not made; pairs
that no row can hold are returned beside the rows.
"""
import itertools
import random

CANDIDATES = 12


def pairs_of(row):
    return {frozenset(two) for two in itertools.combinations(row.items(), 2)}


def all_pairs(settings):
    out = []
    for (a, values_a), (b, values_b) in itertools.combinations(settings.items(), 2):
        out += [frozenset(((a, x), (b, y))) for x in values_a for y in values_b]
    return out


def completed(start, settings, missing, allowed, pick):
    """A row that begins with the settings in `start`, or None where nothing allowed is found."""
    row = dict(start)
    names = [n for n in settings if n not in row]
    pick.shuffle(names)
    for name in names:
        values = [v for v in settings[name] if allowed({**row, name: v})]
        if not values:
            return None
        pick.shuffle(values)
        gain = lambda v: sum(frozenset(((name, v), item)) in missing for item in row.items())  # noqa: E731
        row[name] = max(values, key=gain)
    return {name: row[name] for name in settings}


def covering(settings, seed, allowed=lambda row: True):
    pick, rows, impossible = random.Random(seed), [], []
    order = all_pairs(settings)
    missing = set(order)
    for pair in order:
        if pair not in missing:
            continue
        made = [completed(dict(pair), settings, missing, allowed, pick) for _ in range(CANDIDATES)] if allowed(dict(pair)) else []
        made = [row for row in made if row]
        if not made:
            impossible.append(dict(pair))
            missing.discard(pair)
            continue
        rows.append(max(made, key=lambda row: len(pairs_of(row) & missing)))
        missing -= pairs_of(rows[-1])
    return rows, impossible
