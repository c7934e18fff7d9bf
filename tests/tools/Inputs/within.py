"""Runs a command that must end by itself: within.py SECONDS EXIT COMMAND ...; fails where it takes longer or ends otherwise."""
import subprocess
import sys
import time

seconds, code, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
begin = time.monotonic()
ended = subprocess.run(command, check=False).returncode
took = time.monotonic() - begin
if ended != code or took > seconds:
    sys.exit(f"ended with {ended} after {took:.2f} s, expected {code} within {seconds} s")
