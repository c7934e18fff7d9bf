import collections
import csv
import datetime
import math
import statistics

import torch
from torch import nn

from twins.parts import ROOT


class Twin(nn.Module):
    """Reads the tables without Heddle: with Python's csv, datetime and statistics."""
    trivial_name = "the mean of the training rows' logarithms"
    std = 0.1

    def __init__(self, stations=13, weathers=5, hidden=24):
        super().__init__()
        self.place, self.sky, self.days = nn.Embedding(stations, 6), nn.Embedding(weathers, 3), nn.Embedding(7, 3)
        self.layers = nn.Sequential(nn.Linear(22, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    @staticmethod
    def numbers_of(tables, name):
        """With the median for what is missing, normalized, both as of the training rows; and which are missing."""
        said = {split: [float(row[name]) if row[name] else None for row in rows] for split, rows in tables.items()}
        middle = statistics.median(v for v in said["train"] if v is not None)
        filled = {split: torch.tensor([middle if v is None else v for v in values]) for split, values in said.items()}
        missing = {split: torch.tensor([float(v is None) for v in values]) for split, values in said.items()}
        return [{s: (of[s] - of["train"].mean()) / of["train"].std(unbiased=False) for s in of} for of in (filled, missing)]

    @staticmethod
    def classes_of(tables, name):
        """Names that fewer than 20 training rows have, and those of other rows, are the class behind all others."""
        counts = collections.Counter(row[name] for row in tables["train"])
        kept = sorted(n for n, count in counts.items() if count >= 20)
        number = {n: i for i, n in enumerate(kept)}
        return {split: torch.tensor([number.get(row[name], len(kept)) for row in rows]) for split, rows in tables.items()}

    @staticmethod
    def times_of(row):
        when = datetime.datetime.fromisoformat(row["when"])
        begin, end = datetime.datetime(when.year, 1, 1), datetime.datetime(when.year + 1, 1, 1)
        return [(when.hour * 60 + when.minute) / 1440, (when - begin) / (end - begin), when.weekday()]

    @classmethod
    def read(cls):
        tables = {}
        for split, year in (("train", 2023), ("test", 2024)):
            with open(ROOT / f"models/hires_{year}.csv", newline="") as file:
                tables[split] = list(csv.DictReader(file))
        temperature, no_temperature = cls.numbers_of(tables, "temperature")
        wind, no_wind = cls.numbers_of(tables, "wind")
        station, weather = cls.classes_of(tables, "station"), cls.classes_of(tables, "weather")
        return {split: {"numbers": torch.stack([of[split] for of in (temperature, wind, no_temperature, no_wind)], 1),
                        "when": torch.tensor([cls.times_of(row) for row in rows]),
                        "station": station[split], "weather": weather[split],
                        "hours": torch.tensor([float(row["hours"]) for row in rows]),
                        "hired": torch.tensor([float(row["hired"]) for row in rows])} for split, rows in tables.items()}

    def forward(self, rows):
        day, year, weekday = rows["when"].T
        turns = 2 * math.pi * torch.stack([day, year, 2 * day], 1)
        row = [rows["numbers"], turns.sin(), turns.cos(), self.place(rows["station"]), self.sky(rows["weather"]), self.days(weekday.long())]
        return self.layers(torch.cat(row, 1)).squeeze(1)

    @staticmethod
    def mean_square(found, rows):
        return ((found - torch.log(rows["hired"] + 0.1)).square() * rows["hours"]).sum() / rows["hours"].sum()

    def loss(self, rows):
        return self.mean_square(self(rows), rows)

    def figures(self, rows):
        return {"loss": self.loss(rows).item()}

    @classmethod
    def trivial(cls, train, test):
        logarithms = torch.log(train["hired"] + 0.1)
        return {"loss": cls.mean_square((logarithms * train["hours"]).sum() / train["hours"].sum(), test).item()}
