"""trials_stopped.py FOLDER MODEL: a terminal's Ctrl-Z stops a sweep with its trials, fg and bg let both go on."""
import os
import pathlib
import signal
import subprocess
import sys
import time

WAIT = 60  # seconds, for what takes a moment


def states(folder):
    """Of the processes that train in folders below this one: R, S, T, ..."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if process.name.isdigit() and any(word.startswith(f"{folder}/") for word in words):
                found.append(state(process.name))
        except OSError:
            continue
    return found


def state(process):
    return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_until(holds):
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def main(work, model):
    folder = pathlib.Path(work) / "sweep"

    def as_a_job():  # a process group of its own in the session, as a shell starts it; none is ignored
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTSTP):
            signal.signal(number, signal.SIG_DFL)

    process = subprocess.Popen(["heddle", "sweep", model, "--set", "train.epochs=100000000", "--vary", "train.seed=1,2", "--jobs", "2",
                                "-o", str(folder), "--quiet"], stderr=subprocess.PIPE, text=True, preexec_fn=as_a_job)
    try:
        for _ in range(2):
            wait_until(lambda: len(states(folder)) == 2)
            os.killpg(process.pid, signal.SIGTSTP)
            wait_until(lambda: state(process.pid) == "T" and states(folder) == ["T", "T"])
            os.killpg(process.pid, signal.SIGCONT)
            wait_until(lambda: state(process.pid) != "T" and "T" not in states(folder))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT)
        assert process.returncode == 128 + signal.SIGINT, errors
        assert not states(folder)
    finally:
        process.kill()
    print("stopped and went on")


main(*sys.argv[1:])
