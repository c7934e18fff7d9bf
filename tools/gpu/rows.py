"""Rows of tools/gpu/run.sh: stage, name, value, unit, reference, ratio, verdict, separated by tabs.

usage: rows.py losses MODEL HOST.jsonl N K=GPU.jsonl...   the first N losses against the host's; all losses of each K the same bits
       rows.py kernels MODEL CHECKED.tsv                  how many steps agree, and those that do not
       rows.py runs NAME HOST.jsonl GPU.jsonl             validation's and test's numbers against the host's
       rows.py bench STAGE NAME BENCH.json RESULTS.tsv    as launches: over the time "as planned"
       rows.py peers NAME OURS PEER.json RESULTS.tsv      the peer's time over ours, the row that is called OURS
       rows.py ncu MODEL NCU.csv                          each kernel's least duration
       rows.py clocks CLOCKS.csv                          the multiprocessors' clock, and why it was lowered
       rows.py calibration MODEL BENCH.json               each kernel's time over its prediction
       rows.py table RESULTS.tsv
Exit code 1 where a row has FAILED.
"""
import csv
import json
import math
import sys

COMPARED = 20  # losses of a model, or as many as stay together on the host itself when a start's last bits are others (drift.py)
MOST = 1e-3    # of the largest loss
ROUNDED = 2e-2  # likewise, where a device may round operands of products and the host does not: MODEL@tf32, MODEL@bf16
bad = False    # a row has FAILED


def row(stage, name, value="", unit="", reference="", ratio="", verdict="ok"):
    def text(x):
        return f"{x:.4g}" if isinstance(x, float) else str(x)
    global bad
    bad = bad or verdict.startswith("FAILED")
    print("\t".join(text(x) for x in (stage, name, value, unit, reference, ratio, verdict)), flush=True)


def losses_of(path):
    with open(path) as lines:
        return [line["loss"] for line in map(json.loads, lines) if line["event"] == "step"]


def losses(model, host, compared, *runs):
    expected = losses_of(host)
    first, most = None, ROUNDED if "@" in model else MOST
    for run in runs:
        k, path = run.split("=", 1)
        got = losses_of(path)
        n = int(compared)
        scale = max(map(abs, expected[:n]))
        worst = max((abs(a - b) / scale for a, b in zip(expected[:n], got[:n])), default=math.inf)
        verdict = f"ok ({n} losses compared, {len(got)} of the same bits)"
        if len(got) != len(expected):
            verdict = f"FAILED: {len(got)} losses, expected {len(expected)}"
        elif not worst <= most:  # nan, too
            at = next((i for i, (a, b) in enumerate(zip(expected[:n], got[:n])) if not abs(a - b) <= most * scale), 0)
            verdict = f"FAILED: more than {most:g} from the host's: loss {at + 1} is {got[at]:.9g}, the host's {expected[at]:.9g}"
        elif first is not None and got != first[1]:
            at = next(i for i, (a, b) in enumerate(zip(got, first[1])) if a != b)
            verdict = f"FAILED: loss {at + 1} is {got[at]:.9g}, with k={first[0]} {first[1][at]:.9g}"
        first = first or (k, got)
        row("losses", f"{model} k={k}", worst, "of the largest loss", most, verdict=verdict)


def kernels(model, path):
    with open(path) as lines:
        steps = [line.rstrip("\n").split("\t") for line in lines]
    wrong = [s for s in steps if s[3] != "ok" and not s[3].startswith("ok: ")]
    flipped = sum(int(s[3].split()[1]) for s in steps if s[3].startswith("ok: "))
    for s in wrong:
        row("kernels", f"{model} {s[0]}", float(s[1]), "NMSE", float(s[2]), verdict=f"FAILED: {s[3]}")
    if steps and not wrong:
        worst = max(steps, key=lambda s: float(s[1]))
        row("kernels", f"{model}: {len(steps)} steps", float(worst[1]), "worst NMSE", float(worst[2]),
            verdict="ok" + (f" ({flipped} flags or integers flipped)" if flipped else ""))


def numbers_of(path):
    """Losses and metrics of epochs, validations and tests by their places in the log; no times, no hashes."""
    found = {}

    def walk(place, x):
        if isinstance(x, dict):
            for key, value in x.items():
                walk(f"{place}.{key}", value)
        elif isinstance(x, (int, float)) and not isinstance(x, bool):
            found[place] = x
    with open(path) as lines:
        events = [event for event in map(json.loads, lines) if event["event"] not in ("step", "start")]
    for i, event in enumerate(events):
        for key in ("metrics", "train", "validation", "test", "loss"):
            walk(f"{i} {event['event']}.{key}", event.get(key, {}))
    return found


def runs(name, host, gpu):
    expected, got = numbers_of(host), numbers_of(gpu)
    off = {place: abs(x - got[place]) / max(abs(x), 1e-2) for place, x in expected.items() if place in got}
    worst = max(off, key=off.get, default="")
    limit = 2e-2  # a metric counts rows: one flips
    verdict = f"ok ({len(off)} numbers)"
    if not off or expected.keys() != got.keys():
        verdict = f"FAILED: {len(got)} numbers, expected {len(expected)}"
    elif not off[worst] <= limit:
        verdict = f"FAILED: {worst} is {got[worst]}, the host's {expected[worst]}"
    row("runs", name, off.get(worst, math.inf), "of the host's", limit, verdict=verdict)


def value_of(results, name):
    """The last row of this name that has a value."""
    with open(results) as lines:
        cells = [line.split("\t") for line in lines]
    return next((float(c[2]) for c in reversed(cells) if c[1] == name and c[2]), None)


def bench(stage, name, path, results):
    r = json.load(open(path))
    took = r["step_ms_median"] * 1e3
    planned = None  # what it is compared with
    for this, other in ((" launches", " as planned"), (" library", " generated")):
        planned = value_of(results, name.removesuffix(this) + other) if name.endswith(this) else planned
    row(stage, name, took, "us/step", planned or "", took / planned if planned else "",
        verdict=f"ok (min {r['step_ms_min'] * 1e3:.4g}, cold {r['cold_s']:.3g} s, {r['host']})")


def peers(name, own, path, results):
    r = json.load(open(path))
    theirs, ours = r["step_ms_median"] * 1e3, value_of(results, own)
    row("peers", name, theirs, "us/step", ours or "", theirs / ours if ours else "", f"ok (loss {r['loss']})")


def ncu(model, path):
    """Of ncu's raw page: a line of names, one of units, one for each launch."""
    with open(path) as lines:
        table = list(csv.reader(line for line in lines if line.startswith('"')))
    if len(table) < 3:
        row("ncu", model, verdict="FAILED: no kernel in ncu's output")
        return
    name, took = (table[0].index(column) for column in ("Kernel Name", "gpu__time_duration.sum"))
    scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}.get(table[1][took])
    least = {}
    for line in table[2:]:
        least[line[name]] = min(least.get(line[name], math.inf), float(line[took].replace(",", "")))
    for kernel, duration in least.items():
        row("ncu", f"{model} {kernel}", duration * (scale or 1), "us" if scale else table[1][took])


def clocks(path):
    with open(path) as lines:
        cells = [[c.strip() for c in line.split(",")] for line in lines]
    cells = [c for c in cells if len(c) == 6 and c[1].isdigit()]
    if not cells:
        return
    speeds = sorted(int(c[1]) for c in cells)
    reasons = 0
    for c in cells:
        reasons |= int(c[3], 16) if c[3].startswith("0x") else 0
    why = [word for bit, word in ((1, "idle"), (2, "applications' setting"), (4, "power cap"), (8, "hardware"), (0x20, "heat"),
                                  (0x40, "heat, by hardware"), (0x80, "power brake")) if reasons & bit]
    row("environment", "clock of the multiprocessors", speeds[len(speeds) // 2], "MHz", speeds[-1], speeds[0] / speeds[-1],
        f"ok (median, most, least over most of {len(speeds)} s; lowered for: {', '.join(why) or 'nothing'})")


def calibration(model, path):
    for kernel in json.load(open(path))["kernels"]:
        took, predicted = kernel["seconds"] * 1e6, kernel["predicted_seconds"] * 1e6
        row("calibration", f"{model} {kernel['title']}", took, "us", predicted, took / predicted if predicted else "")


def table(results):
    with open(results) as lines:
        rows = [(line.rstrip("\n").split("\t") + [""] * 7)[:7] for line in lines]
    widths = [max(len(r[i]) for r in rows) for i in range(6)]
    for r in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(r, [*widths, 0])).rstrip())
    failed = [r for r in rows if r[6].startswith("FAILED")]
    skipped = [r for r in rows if r[6].startswith("skipped")]
    print(f"{len(rows) - 1} rows, {len(failed)} failed, {len(skipped)} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    {f.__name__: f for f in (losses, kernels, runs, bench, peers, ncu, clocks, calibration, table)}[sys.argv[1]](*sys.argv[2:])
    sys.exit(1 if bad else 0)
