"""Writes a table with dates, and the same rows with the numbers that Python makes of them: python3 make_dates.py FOLDER"""
import datetime
import pathlib
import random
import sys

folder = pathlib.Path(sys.argv[1])
pick = random.Random(11)
EPOCH = datetime.date(1970, 1, 1)
PARTS = ["days", "year", "month", "day", "weekday", "hour", "minute", "time_of_day", "time_of_week", "time_of_year"]


def numbers(moment, offset):
    day, second = (moment.date() - EPOCH).days, float(moment.hour * 3600 + moment.minute * 60 + moment.second)
    start = datetime.date(moment.year, 1, 1)
    length = (datetime.date(moment.year + 1, 1, 1) - start).days
    return {
        "days": day + (second - offset) / 86400, "year": moment.year, "month": moment.month, "day": moment.day,
        "weekday": moment.weekday(), "hour": moment.hour, "minute": moment.minute, "time_of_day": second / 86400,
        "time_of_week": (moment.weekday() + second / 86400) / 7,
        "time_of_year": ((moment.date() - start).days + second / 86400) / length,
    }


rows = []
for i in range(12):
    moment = datetime.datetime(pick.randrange(1960, 2040), 1, 1) + datetime.timedelta(seconds=pick.randrange(366 * 86400))
    offset = pick.choice([0, 7200, -12600])
    sign, hours = "-" if offset < 0 else "+", abs(offset) // 60
    zone = "Z" if offset == 0 else f"{sign}{hours // 60:02}:{hours % 60:02}"
    rows.append((i / 4, moment.strftime("%Y-%m-%dT%H:%M:%S") + zone, numbers(moment, offset), i % 3))
(folder / "dates.csv").write_text("v,when,y\n" + "".join(f"{v},{text},{y}\n" for v, text, _, y in rows))
(folder / "numbers.csv").write_text("v," + ",".join(PARTS) + ",y\n" + "".join(
    ",".join(map(repr, [v, *(n[p] for p in PARTS), y])) + "\n" for v, _, n, y in rows))
(folder / "holes.csv").write_text("v,when,y\n" + "".join(f"{v},{'' if i == 3 else text},{y}\n" for i, (v, text, _, y) in enumerate(rows)))
(folder / "filled.csv").write_text("v,time_of_day,time_of_week,days,y\n" + "".join(
    ",".join(["%r" % v, *(["-1"] * 3 if i == 3 else [repr(n[p]) for p in ("time_of_day", "time_of_week", "days")]), str(y)]) + "\n"
    for i, (v, _, n, y) in enumerate(rows)))
for name, text in {"german": "31.12.2024", "american": "12/31/2024", "leap": "2023-02-29", "hour": "2024-01-01T24:00", "word": "today",
                   "empty": "", "week": "2024-W09-5"}.items():
    (folder / f"{name}.csv").write_text("v,when,y\n" + f"1,{text},0\n" * 4)
