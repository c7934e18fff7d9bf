"""killed.py locked FOLDER COMMAND: runs it while the folder is locked, as a living process locks its own
killed.py compile FOLDER: kills commands while they compile, TMPDIR being FOLDER/tmp, and asks that the next start removes what they left
"""
import fcntl
import os
import pathlib
import subprocess
import sys
import time


def locked(folder, *command):
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return subprocess.run(command).returncode


def left(folder):
    return sorted(folder.glob("heddle-*.tmp"))


def compile_killed(work, number, *words):
    folder = work / "tmp"
    folder.mkdir(exist_ok=True)
    cold = {**os.environ, "TMPDIR": str(folder), "HEDDLE_CACHE": str(work / f"cache{number}")}
    process = subprocess.Popen(["heddle", *words], env=cold, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not left(folder) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert left(folder), f"{words}: no temporary folder was seen"
    # A compiler that outlives the process may still write there: then it is the start after the next.
    for _ in range(20):
        subprocess.run(["heddle", "bench", "tiny_mlp", "--seconds", "0.01"], env={**os.environ, "TMPDIR": str(folder)},
                       stderr=subprocess.DEVNULL, check=True)
        if not left(folder):
            return
        time.sleep(0.25)
    raise AssertionError(f"{words}: {left(folder)} stay")


if sys.argv[1] == "locked":
    sys.exit(locked(*sys.argv[2:]))
compile_killed(pathlib.Path(sys.argv[2]), 1, "bench", "digits_cnn")
compile_killed(pathlib.Path(sys.argv[2]), 2, "train", "digits_cnn", "--set", "train.epochs=1")
