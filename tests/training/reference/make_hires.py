#!/usr/bin/env python3
"""Draws the tables of models/tabular_mixed.json: models/hires_2023.csv, which trains, and hires_2024.csv, which tests.

    python3 make_hires.py

A row is a count of bicycles that were hired at a station. It is as such tables are: two sensors fail, one of them in strong wind above all;
most stations are small and stand in few rows; some counters were broken, and say 0 in 0 hours. The longer somebody counted, the nearer is
the number to what it should be.
"""
import datetime
import math
import pathlib
import random

MODELS = pathlib.Path(__file__).resolve().parents[3] / "models"
LARGE = ("Abbey", "Bridge", "Castle", "Docks", "Elm Row", "Ferry", "Guildhall", "Harbour", "Infirmary", "Junction", "King's Gate",
         "Library")
STREETS = ("Ash", "Birch", "Cedar", "Larch", "Maple", "Oak", "Pine", "Yew")
SMALL = tuple(f"{street} {number}" for street in STREETS for number in range(1, 16))


def log_of_hired(station, when, weather, temperature, wind, effect):
    hour = when.hour + when.minute / 60
    if when.weekday() >= 5:
        time = 1.4 * math.exp(-(((hour - 14.5) / 4) ** 2))
    else:
        time = 1.4 * math.exp(-(((hour - 8) / 2) ** 2)) + 1.5 * math.exp(-(((hour - 17.5) / 2.5) ** 2))
    season = 0.3 * math.cos(2 * math.pi * (when.timetuple().tm_yday - 190) / 365)
    mood = {"dry": 0.0, "cloudy": -0.1, "rain": -0.6, "snow": -1.2}[weather]
    return 2.5 + effect[station] + time + season + mood + 0.02 * (temperature - 10) - 1.2 / (1 + math.exp(13 - wind))


def draw_row(pick, year, effect):
    when = datetime.datetime(year, 1, 1) + datetime.timedelta(minutes=5 * pick.randrange(365 * 24 * 12))
    when = when.replace(hour=6 + when.hour * 16 // 24)
    station = pick.choice(LARGE) if pick.random() < 0.8 else pick.choice(SMALL)
    cold = -math.cos(2 * math.pi * (when.timetuple().tm_yday - 20) / 365)
    temperature = 10 + 9 * cold + 3 * math.sin(2 * math.pi * (when.hour - 9) / 24) + pick.gauss(0, 3)
    weather = "snow" if temperature < 1 and pick.random() < 0.4 else pick.choices(("dry", "cloudy", "rain"), (5, 3, 2))[0]
    wind = pick.gammavariate(2.2, 3)
    hours = 0 if pick.random() < 0.04 else pick.choice((1, 1, 2, 3, 4, 8))
    hired = math.exp(log_of_hired(station, when, weather, temperature, wind, effect) + pick.gauss(0, 0.7) / math.sqrt(hours or 1))
    said = "" if pick.random() < 0.1 else f"{temperature:.1f}"
    blown = "" if pick.random() < 0.05 + 0.9 / (1 + math.exp(13 - wind)) else f"{wind:.1f}"
    return f"{when:%Y-%m-%d %H:%M},{station},{weather},{said},{blown},{hours},{hired if hours else 0:.1f}"


def main():
    pick = random.Random(2023)
    effect = {**{s: pick.gauss(0, 0.5) for s in LARGE}, **{s: pick.gauss(-1, 0.2) for s in SMALL}}
    for year, rows in ((2023, 2400), (2024, 1200)):
        table = sorted(draw_row(pick, year, effect) for _ in range(rows))
        header = "when,station,weather,temperature,wind,hours,hired"
        (MODELS / f"hires_{year}.csv").write_text("".join(row + "\n" for row in [header, *table]))


if __name__ == "__main__":
    main()
