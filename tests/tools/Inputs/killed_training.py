"""killed_training.py RUN TIMES heddle train ...: kills it so often, at later and later steps, and continues it by --resume."""
import pathlib
import subprocess
import sys
import time

run, times, *command = sys.argv[1:]
log = pathlib.Path(run) / "log.jsonl"


def logged():
    return log.read_text().count('"event": "step"') if log.exists() else 0


def start():
    there = (pathlib.Path(run) / "heddle-run.json").exists()
    return subprocess.Popen([*command, "--run", run, *(["--resume"] if there else [])], stderr=subprocess.DEVNULL)


killed = 0
for _ in range(int(times)):
    process, before, end = start(), logged(), time.monotonic() + 60
    while process.poll() is None and logged() < before + 11 and time.monotonic() < end:
        time.sleep(0.001)
    process.kill()
    killed += process.wait() != 0
print(f"killed {killed} times", flush=True)
sys.exit(start().wait())
