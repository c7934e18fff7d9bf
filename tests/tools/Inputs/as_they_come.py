"""Each result is written when it is there: as_they_come.py LINES COMMAND... ends a command shortly after its first line.

Fewer than LINES lines, all that it has to write, have come by then.
"""
import subprocess
import sys
import time

process = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
first = process.stdout.readline()
time.sleep(0.05)  # what was written together has come by then
process.kill()
rest = process.stdout.read().count(b"\n")
process.wait()
assert first.endswith(b"\n") and 1 + rest < int(sys.argv[1]), (first, rest)
