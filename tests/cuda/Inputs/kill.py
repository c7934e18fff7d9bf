"""kill.py FOLDER [compiler] COMMAND...: starts the command with TMPDIR and an empty cache in FOLDER, and kills it, or the compiler, while
NVRTC works for it."""
import os
import pathlib
import signal
import subprocess
import sys
import time


def compilers(folder):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = process.read_bytes()
        except OSError:
            continue
        if b"heddle-nvrtc\0" in text and folder.encode() in text:
            found.append(int(process.parent.name))
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


folder, command = sys.argv[1] + "/tmp", sys.argv[2:]
compiler = command[0] == "compiler"
environment = {**os.environ, "TMPDIR": folder, "HEDDLE_CACHE": sys.argv[1] + "/cache"}
run = subprocess.Popen(command[compiler:], env=environment)
wait_until(lambda: compilers(folder), 20)
running = compilers(folder)
print("compilers:", len(running), flush=True)
if compiler:
    os.kill(running[0], signal.SIGKILL)
else:
    run.kill()
status = run.wait()
wait_until(lambda: not compilers(folder), 3)
print("left:", len(compilers(folder)), "exit:", status)
