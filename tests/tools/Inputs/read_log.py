"""Reads a log of a run: every line is an object with an event and a time, times do not go back, the first event is
"start" or "resume", steps follow one another, and there is one "end" for each beginning, behind all else. Prints the last.

    read_log.py FILE [BEGINNINGS]
"""
import json
import sys

DIFFERENT = {"at", "train_seconds", "seconds", "peak_bytes", "metrics", "weights_hash", "arena_bytes", "state_bytes"}


def strict(name):
    raise ValueError(f"{name} is not JSON")


with open(sys.argv[1]) as file:
    text = file.read()
assert text.endswith("\n"), "the last line is whole"
events = [json.loads(line, parse_constant=strict) for line in text.splitlines()]
times = [e["at"] for e in events]
assert times == sorted(times), "times go back"
names = [e["event"] for e in events]
beginnings = int(sys.argv[2]) if len(sys.argv) > 2 else 1
assert names[0] in ("start", "resume") and names[-1] == "end"
assert sum(n in ("start", "resume") for n in names) == names.count("end") == beginnings
for name, following in zip(names, names[1:]):
    assert name != "end" or following == "resume", "something is behind the end"
steps = [e["step"] for e in events if e["event"] == "step"]
assert steps == list(range(1, len(steps) + 1)), "steps follow one another"
end = events[-1]
if "steps" in end:
    assert end["steps"] >= len(steps)
print(json.dumps({k: v for k, v in end.items() if k not in DIFFERENT}), sorted(DIFFERENT & set(end)))
