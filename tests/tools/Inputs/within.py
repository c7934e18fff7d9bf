"""Runs a command that must end by itself: within.py SECONDS EXIT COMMAND ...; fails where it takes longer or ends otherwise.

A machine that does other work besides takes longer: the least of three runs counts. What is printed is the last run's.
"""
import subprocess
import sys
import time

seconds, code, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
for last in (False, False, True):
    begin = time.monotonic()
    ended = subprocess.run(command, check=False, capture_output=True)
    took = time.monotonic() - begin
    if ended.returncode != code or took <= seconds or last:
        break
sys.stdout.buffer.write(ended.stdout)
sys.stderr.buffer.write(ended.stderr)
if ended.returncode != code or took > seconds:
    sys.exit(f"ended with {ended.returncode} after {took:.2f} s, expected {code} within {seconds} s")
