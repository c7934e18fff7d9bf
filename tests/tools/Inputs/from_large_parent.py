"""Starts heddle from a process of 400 MB: python3 from_large_parent.py WORDS...

Prints whether peak_bytes is what heddle itself took. What getrusage tells of a process begins with what its parent had.
"""
import json
import resource
import subprocess
import sys

PARENT = 400_000_000

held = b"x" * PARENT
run = subprocess.run(["heddle", *sys.argv[1:], "--json"], capture_output=True, text=True)
assert run.returncode == 0, run.stderr
peak = json.loads(run.stdout)["peak_bytes"]
assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 >= PARENT, "the child would not have shown it"
print("own" if 4_000_000 < peak < PARENT / 2 else f"not its own: {peak}", len(held))
