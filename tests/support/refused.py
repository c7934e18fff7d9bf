#!/usr/bin/env python3
"""Runs a command that must refuse its input, and prints what it said: refused.py SECONDS COMMAND...

Fails unless the command ends by itself within SECONDS of processor time, with exit code 1 and a located message, and without a
sanitizer's report: those end with 1, too. The clock on the wall is given fifteen times as long: other programs use the machine as well.
"""
import re
import resource
import subprocess
import sys

REPORTS = ("Sanitizer", "runtime error:")
LOCATED = re.compile(r"^\S+:\d+:\d+: error: ", re.MULTILINE)


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=15 * limit)
    except subprocess.TimeoutExpired:
        sys.exit("refused: still running after %g s: %s" % (15 * limit, " ".join(command)))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if used.ru_utime + used.ru_stime > limit:
        sys.exit("refused: it took %.1f s of processor time: %s" % (used.ru_utime + used.ru_stime, " ".join(command)))
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.flush()
    said = done.stdout.decode(errors="replace")
    if any(report in said for report in REPORTS):
        sys.exit("refused: a sanitizer reports:\n" + said)
    if done.returncode != 1:
        sys.exit("refused: exit code %d, expected 1:\n%s" % (done.returncode, said))
    if not LOCATED.search(said):
        sys.exit("refused: no message with file, line and column:\n" + said)


main()
