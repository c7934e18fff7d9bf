"""Rows of tools/gpu/run.sh: stage, name, value, unit, reference, ratio, verdict, separated by tabs.

usage: rows.py losses MODEL HOST.jsonl N K=GPU.jsonl...   the first N losses against the host's; all losses of each K the same bits
       rows.py kernels MODEL CHECKED.tsv                  how many steps agree, and those that do not
       rows.py benches NAME BENCH.json
       rows.py peers NAME PEER.json RESULTS.tsv           the peer's time over ours
       rows.py calibration MODEL BENCH.json               each kernel's time over its prediction
       rows.py table RESULTS.tsv                          exit code 1 where a row has FAILED
"""
import json
import math
import sys

COMPARED = 20  # losses of a model, or as many as stay together on the host itself when a start's last bits are others (drift.py)
MOST = 1e-3    # of the largest loss


def row(stage, name, value="", unit="", reference="", ratio="", verdict="ok"):
    def text(x):
        return f"{x:.4g}" if isinstance(x, float) else str(x)
    print("\t".join(text(x) for x in (stage, name, value, unit, reference, ratio, verdict)), flush=True)


def losses_of(path):
    with open(path) as lines:
        return [line["loss"] for line in map(json.loads, lines) if line["event"] == "step"]


def losses(model, host, compared, *runs):
    expected = losses_of(host)
    first = None
    for run in runs:
        k, path = run.split("=", 1)
        got = losses_of(path)
        n = int(compared)
        scale = max(map(abs, expected[:n]))
        worst = max((abs(a - b) / scale for a, b in zip(expected[:n], got[:n])), default=math.inf)
        verdict = f"ok ({n} losses compared, {len(got)} of the same bits)"
        if len(got) != len(expected):
            verdict = f"FAILED: {len(got)} losses, expected {len(expected)}"
        elif not worst <= MOST:  # nan, too
            verdict = f"FAILED: more than {MOST:g} from the host's"
        elif first is not None and got != first[1]:
            at = next(i for i, (a, b) in enumerate(zip(got, first[1])) if a != b)
            verdict = f"FAILED: step {at + 1} differs from k={first[0]}"
        first = first or (k, got)
        row("losses", f"{model} k={k}", worst, "of the largest loss", MOST, verdict=verdict)


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


def benches(name, path):
    r = json.load(open(path))
    row("benches", name, r["step_ms_median"] * 1e3, "us/step", verdict=f"ok (min {r['step_ms_min'] * 1e3:.4g}, cold {r['cold_s']:.3g} s)")


def peers(name, path, results):
    r = json.load(open(path))
    theirs = r["step_ms_median"] * 1e3
    ours = [line.split("\t")[2] for line in open(results) if line.startswith(f"benches\t{name.split()[0]} k=64\t")]
    known = bool(ours and ours[-1])
    row("peers", name, theirs, "us/step", float(ours[-1]) if known else "", theirs / float(ours[-1]) if known else "",
        f"ok (loss {r['loss']})")


def calibration(model, path):
    for step in json.load(open(path))["profile"]:
        took, predicted = step["seconds"] * 1e6, step["predicted_seconds"] * 1e6
        row("calibration", f"{model} {step['title']}", took, "us", predicted, took / predicted if predicted else "")


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
    {f.__name__: f for f in (losses, kernels, benches, peers, calibration, table)}[sys.argv[1]](*sys.argv[2:])
