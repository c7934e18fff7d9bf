"""Profiles that `heddle profile` wrote, looked at.

    profile.py check FILE MODEL ENTRY    what every profile promises
    profile.py totals HEDDLE TRACE MODEL...   the kernels of each model's step make up the step, within 5 %
    profile.py loops FILE TURNS          kernels in loops have all their turns
    profile.py trace TRACE FILE          a time line has each execution of each kernel of the profile's run
    profile.py renumber FROM TO          the same kernels with other numbers in their names, one of them 500 us longer
"""
import collections
import json
import subprocess
import sys


def check(path, model, entry):
    p = json.load(open(path))
    assert (p["format"], p["model"], p["entry"]) == ("heddle-profile/1", model, entry), p
    assert p["kernels"] and p["step_seconds"] > 0 and p["ceilings"]["flops"] > 0
    rates = [b["bytes_per_second"] for b in p["ceilings"]["bandwidths"]]
    assert rates == sorted(rates, reverse=True) and rates[-1] > 1e8, rates
    for k in p["kernels"]:
        assert k["title"] and k["ops"] and k["executions"] >= 1, k
        assert k["least_seconds"] <= k["seconds"] <= k["most_seconds"] and k["seconds"] > 0, k
        assert k["bytes"] >= 0 and k["flops"] >= 0 and k["bound_seconds"] >= 0 and k["predicted_seconds"] >= 0, k
        assert (k["symbol"] != "") == (k["made_by"] == "generated"), k
    total = sum(k["seconds"] for k in p["kernels"])
    # Within 5 % where nothing else runs; tests share their machine.
    assert 0.3 < total / p["step_seconds"] < 3, (total, p["step_seconds"])


def totals(heddle, trace, *models):
    """Of the run that a time line shows, so that other programs slow down all of it. A moment that is lost between two
    kernels is no fault, and another run shows so."""
    attempts = 3
    for model in models:
        shares = []
        while len(shares) < attempts and (not shares or shares[-1] < 0.95):
            command = [heddle, "profile", *model.split(), "--threads", "1", "--seconds", "0.05", "--rounds", "3"]
            subprocess.run([*command, "--trace", trace], check=True, stdout=subprocess.DEVNULL)
            events = [e for e in json.load(open(trace))["traceEvents"] if e["ph"] == "X"]
            step = max(e["ts"] + e["dur"] for e in events) - min(e["ts"] for e in events)
            shares.append(sum(e["dur"] for e in events) / step)
        assert 0.95 <= shares[-1] < 1.0001, (model, shares)


def loops(path, turns):
    p = json.load(open(path))
    inside = [k for k in p["kernels"] if k["loop"]]
    assert inside and all(k["executions"] == int(turns) for k in inside), inside
    assert all(k["executions"] == 1 for k in p["kernels"] if not k["loop"])
    assert len({k["loop"] for k in inside}) == 2, inside


def trace(path, profile):
    t = json.load(open(path))
    assert t["otherData"]["format"] == "heddle-trace/1", t["otherData"]
    events = [e for e in t["traceEvents"] if e["ph"] == "X"]
    tracks = {e["tid"]: e["args"]["name"] for e in t["traceEvents"] if e["name"] == "thread_name"}
    assert tracks.get(1) == "thread 0" and set(e["tid"] for e in events) <= set(tracks), tracks
    first = [e for e in events if e["tid"] == 1]
    expected = collections.Counter()
    for k in json.load(open(profile))["kernels"]:
        expected[k["title"]] += k["executions"]
    assert collections.Counter(e["name"] for e in first) == expected
    end = 0
    for e in first:  # one after another
        assert e["ts"] >= end - 1e-3 and e["dur"] >= 0 and e["args"]["ops"], e
        end = e["ts"] + e["dur"]


def renumber(path, to):
    p = json.load(open(path))
    for number, k in enumerate(p["kernels"]):
        k["title"] += f"_{number}"
        k["symbol"] += f"_{number}" if k["symbol"] else ""
        if "sqrt" in k["ops"]:
            k["seconds"] += 500e-6
            k["title"] = k["title"].rsplit("_", 1)[0] + "_7"
        k["lines"] = [line.split(":")[0] + ":" + str(int(line.split(":")[1]) + 2) for line in k["lines"]]
    p["step_seconds"] += 500e-6
    json.dump(p, open(to, "w"))


if __name__ == "__main__":
    {f.__name__: f for f in (check, totals, loops, trace, renumber)}[sys.argv[1]](*sys.argv[2:])
