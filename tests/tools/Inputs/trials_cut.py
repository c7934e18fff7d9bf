"""trials_cut.py FOLDER MODEL: a sweep or a cross-validation that is cut at several moments leaves no process, and
goes on to the same files.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SWEEP = (["sweep", "--vary", "train.optimizer.lr=0.001,0.01", "--jobs", "2", "-o"], ["trials.jsonl", "best.safetensors", "best.json"])
HALVING = (["sweep", "--strategy", "halving", "--trials", "3", "--vary", "train.optimizer.lr=log:1e-4..1e-2", "-o"],
           ["trials.jsonl", "best.safetensors"])
FOLDS = (["train", "--folds", "2", "--jobs", "2", "--run"], ["folds.jsonl", "folds.json"])
WAIT = 60  # seconds, for what takes a moment


def start(kind, model, folder, *more):
    (command, *words), _ = kind
    # A signal that whoever runs the tests ignores would be ignored by the command, too.
    restore = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM)]
    return subprocess.Popen(["heddle", command, str(model), "--set", "train.epochs=150", *words, str(folder), *more],
                            stderr=subprocess.PIPE, text=True, preexec_fn=restore)


def children(folder):
    """Processes that train in folders below this one."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if process.name.isdigit() and any(word.startswith(f"{folder}/") for word in words):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def wait_until(holds, process=None):
    end = time.monotonic() + WAIT
    while not holds():
        if process is not None and process.poll() is not None:
            return False
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)
    return True


def moments(folder):
    """What is seen from outside: nothing yet, the mark, a process, a run that trains, a line of an ended one."""
    lines = lambda: sum(len(rows.read_text().splitlines()) for rows in folder.glob("*.jsonl"))
    yield lambda: True
    yield lambda: any(folder.glob("heddle-*.json"))
    yield lambda: children(folder)
    yield lambda: any("epoch" in log.read_text() for log in folder.glob("*/log.jsonl"))
    yield lambda: lines() > 0


def finished(kind, model, folder, reference):
    process = start(kind, model, folder, *(["--resume"] if any(folder.glob("heddle-*.json")) else []))
    _, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 0, errors
    for name in kind[1]:
        assert (folder / name).read_bytes() == (reference / name).read_bytes(), f"{folder / name} differs"


def cut(kind, model, folder, reference, at, end):
    """Ends it in that moment by `end`, which returns the exit code that is expected; then lets it go on."""
    shutil.rmtree(folder, ignore_errors=True)
    process = start(kind, model, folder)
    if wait_until(at, process):
        code = end(process)
        _, errors = process.communicate(timeout=WAIT)
        assert process.returncode in (code, 0), f"exit {process.returncode}, not {code}: {errors}"
        wait_until(lambda: not children(folder))
    else:
        process.communicate()
    finished(kind, model, folder, reference)


def signals(process, *numbers):
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.01)
    return 128 + numbers[0]


def kill_child(folder):
    def end(_):
        for child in children(folder)[:1]:
            os.kill(child, signal.SIGKILL)
        return 0

    return end


def killed(process):
    process.kill()
    return -signal.SIGKILL


def main(work, model):
    work, model = pathlib.Path(work), pathlib.Path(model)
    folder = work / "cut"
    for i, what in enumerate([SWEEP, HALVING, FOLDS]):
        reference = work / f"whole{i}"
        process = start(what, model, reference)
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        for at in moments(folder):
            cut(what, model, folder, reference, at, killed)
        cut(what, model, folder, reference, lambda: children(folder), kill_child(folder))
        trains = list(moments(folder))[3]
        for numbers in [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)]:
            cut(what, model, folder, reference, trains, lambda process: signals(process, *numbers))
        if what != HALVING:
            edit(what, model, work / "other.json", folder, reference)
    print("as if nothing had happened")


def edit(what, model, other, folder, reference):
    """While it runs another command is refused the folder; then its model changes."""
    shutil.rmtree(folder, ignore_errors=True)
    text = model.read_text()
    other.write_text(text)
    process = start(what, other, folder)
    assert wait_until(lambda: children(folder), process)
    process.send_signal(signal.SIGSTOP)  # so that it is there in the meantime
    second = start(what, other, folder, "--resume")
    assert "another process works in this folder" in second.communicate()[1] and second.returncode == 1
    other.write_text(text.replace('"seed": 1', '"seed": 9'))
    process.send_signal(signal.SIGCONT)
    _, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 1 and "the model was changed while its trials ran" in errors, errors
    assert not children(folder)
    other.write_text(text)
    process = start(what, other, folder, "--resume")
    _, errors = process.communicate(timeout=WAIT)
    assert process.returncode == 0, errors
    for name in what[1]:
        assert (folder / name).read_bytes() == (reference / name).read_bytes(), f"{folder / name} differs"


main(*sys.argv[1:])
