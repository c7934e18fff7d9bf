#!/usr/bin/env python3
"""Kills trainings that are kept in a folder, and holds what goes on to the run that nobody disturbed.

    survive.py kills RUNS SAVES [SEED]   SIGKILL at RUNS random moments, SAVES of them in the middle of a save, over three models
    survive.py calls [EVERY]             each open, write, fsync, rename in turn fails, or each EVERY-th (tests/robust/fail_call.cpp)

After each kill the folder is resumed, and killed again, until the run has ended. Then its weights, its last checkpoint and every line
of its log, but for times, must be those of the run that was never killed; and no draft may be left. A failure prints the seed.
After each call that fails, the process ends by itself with exit code 0 or 1 and says why; every checkpoint that is there is whole; and
the folder is resumed to the same end. HEDDLE is the binary, HEDDLE_FAIL_CALL the library that makes calls fail. Exit 77: skipped.
"""
import errno
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import signals

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import safetensors_file  # noqa: E402

HEDDLE, ROOT = signals.HEDDLE, signals.ROOT
Failure, require = signals.Failure, signals.require
DEADLINE = 600  # seconds of one process, whose compiler may share the machine with many
DRAFT = re.compile(r"heddle-[0-9a-f]{16}\.tmp$")

# Convolutions with dropout and adam, validation and a ragged batch; random maps, an average and a plateau; a plain one that is saved at each step.
MODELS = {
    "digits_cnn": [
        "--set=data.train.rows=300", "--set=data.test.rows=40", "--set=train.batch.N=16", "--set=train.epochs=24",
        "--checkpoint-every", "5 steps"],
    "mnist_cnn": [
        "--set=train.batch.N=16", "--set=train.epochs=6", '--set=data.map.image=[{"op": "flip"}, {"op": "scale", "by": 0.004}]',
        '--set=train.optimizer={"op": "adam", "lr": {"op": "plateau", "value": 0.001, "patience": 1}}',
        '--set=train.average={"decay": 0.9}', "--checkpoint-every", "3 steps"],
    "tiny_mlp": [
        signals.TINY_DATA, "--set=train.batch.N=16", "--set=train.epochs=1000000", "--set=train.steps=400",
        '--set=train.optimizer={"op": "sgd", "lr": 0.01, "momentum": 0.9}', "--checkpoint-every", "1 steps"],
}


MODELS["short"] = [*MODELS["tiny_mlp"][:-2], "--set=train.steps=20", "--checkpoint-every", "4 steps"]
FILES = {"short": "tiny_mlp"}


def command(model, data, folder, *more):
    return [HEDDLE, "train", str(ROOT / f"models/{FILES.get(model, model)}.json"), "--data", str(data), *MODELS[model], "--run", str(folder), *more]


def read_checkpoint(path):
    """The tensors and the numbers, without what differs from process to process."""
    metadata, tensors = safetensors_file.read(path)
    for key in ("heddle.seconds", "heddle.log_bytes"):
        metadata.pop(key)
    tensors.pop(safetensors_file.CHECKSUM)
    return metadata, {name: t.data for name, t in tensors.items()}


def read_log(folder):
    """Steps, epochs and checkpoints in their order, without times; and what must not be there twice."""
    kept = []
    for line in (folder / "log.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] in ("step", "epoch"):
            event.pop("at")
            kept.append(json.dumps(event))
    return kept


def result(folder):
    last = sorted(folder.glob("checkpoint-*"))[-1]
    return {
        "weights": (folder / "last.safetensors").read_bytes(), "best": (folder / "best.safetensors").read_bytes(),
        "checkpoint": (last.name, read_checkpoint(last)), "log": read_log(folder)}


def drafts(folder):
    return [p.name for p in folder.iterdir() if DRAFT.search(p.name)] if folder.is_dir() else []


class Killer:
    def __init__(self, home, seed):
        self.home, self.random = home, random.Random(seed)
        self.kills = self.in_saves = self.runs = 0
        self.environment = dict(os.environ, HEDDLE_CACHE=str(home / "cache"), TMPDIR=str(home / "tmp"), HEDDLE_COMPILER_SECONDS=str(DEADLINE))
        (home / "tmp").mkdir()

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=DEADLINE)

    def undisturbed(self, model):
        folder = self.home / f"whole_{model}"
        done = self.run(*command(model, self.home, folder))
        require(done.returncode == 0, f"{model} fails:\n{done.stderr}")
        begin = time.monotonic()
        again = self.run(*command(model, self.home, folder, "--overwrite"))
        require(again.returncode == 0, f"{model} fails with --overwrite:\n{again.stderr}")
        return result(folder), time.monotonic() - begin

    def kill(self, process, folder, seconds, in_save):
        """Ends it, in the middle of a save or at any moment; returns whether it was alive."""
        end = time.monotonic() + self.random.random() * seconds
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.0005)
        if in_save:
            while process.poll() is None and not drafts(folder):
                pass
        alive = process.poll() is None
        process.kill()
        process.wait()
        return alive

    def disturbed(self, model, seconds, kills, saves):
        """One run, killed up to `kills` times, and `saves` times in a save; then it is left alone to its end."""
        folder = self.home / f"run{self.runs}"
        self.runs += 1
        planned = [True] * saves + [False] * kills
        self.random.shuffle(planned)
        for in_save in planned:
            process = subprocess.Popen(
                command(model, self.home, folder, "--resume"), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Most kills come early, so that a run takes many.
            alive = self.kill(process, folder, 0.1 + seconds * 0.3 * self.random.random(), in_save)
            if not alive:
                break
            self.kills += 1
            self.in_saves += bool(drafts(folder))
        done = self.run(*command(model, self.home, folder, "--resume"))
        require(done.returncode == 0, f"resuming fails:\n{done.stderr}")
        require("not used" not in done.stderr, f"a checkpoint was left damaged:\n{done.stderr}")
        require(not drafts(folder), f"left behind: {drafts(folder)}")
        return folder


def kills(runs, saves, seed):
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        signals.make_data(home)
        killer = Killer(home, seed)
        names = [model for model in MODELS if model not in FILES]
        whole = {model: killer.undisturbed(model) for model in names}
        while failed == 0 and (killer.kills < runs or killer.in_saves < saves):
            model = names[killer.runs % len(names)]
            expected, seconds = whole[model]
            left = runs - killer.kills
            in_save = min(8, max(0, saves - killer.in_saves))
            try:
                folder = killer.disturbed(model, seconds, max(0, min(20, left) - in_save), in_save)
                found = result(folder)
                for what, value in expected.items():
                    require(found[what] == value, f"{what} is another than of the run that was not killed")
                shutil.rmtree(folder)
            except Failure as failure:
                failed += 1
                print(f"failed: run {killer.runs - 1}, {model} (seed {seed}): {failure}", flush=True)
                kept = pathlib.Path(os.environ.get("HEDDLE_SURVIVE_KEEP", ""))
                if str(kept) != ".":
                    shutil.copytree(home / f"run{killer.runs - 1}", kept / "run", dirs_exist_ok=True)
                    shutil.copytree(home / f"whole_{model}", kept / "whole", dirs_exist_ok=True)
    print(f"survive: {killer.kills} kills, {killer.in_saves} with a draft open, in {killer.runs} runs, {failed} failed, seed {seed}")
    return 1 if failed else 0


CALLS = {"open": errno.EIO, "write": errno.ENOSPC, "fsync": errno.EIO, "rename": errno.EIO, "unlink": errno.EACCES, "ftruncate": errno.EIO}


def check_after_failure(killer, folder, shown, said, code, expected):
    """What a run leaves in which a call has failed, and that it goes on from there."""
    require(code in (0, 1), f"{shown}: exit {code}:\n{said}")
    require(not any(word in said for word in signals.BAD_WORDS), f"{shown}: it said:\n{said}")
    require(code == 0 or "error: " in said, f"{shown}: exit 1 without a word:\n{said}")
    again = killer.run(*command("short", killer.home, folder, "--resume"))
    require(again.returncode == 0, f"{shown}: resuming fails:\n{again.stderr}")
    require("not used" not in again.stderr, f"{shown}: a checkpoint was left damaged:\n{again.stderr}")
    require(not drafts(folder), f"{shown}: left behind: {drafts(folder)}")
    found = result(folder)
    for what, value in expected.items():
        told = what == "log" and "the log is not complete" in said
        require(found[what] == value or told, f"{shown}: {what} is another than of the run in which no call failed:\n{said}")


def calls(every):
    shim = os.environ.get("HEDDLE_FAIL_CALL_LIBRARY", "")
    if not os.path.exists(shim):
        print("skipped: no library that makes calls fail")
        return signals.SKIPPED
    failed, tried = 0, 0
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        signals.make_data(home)
        killer = Killer(home, 0)
        whole = home / "whole"
        done = killer.run(*command("short", home, whole))
        require(done.returncode == 0, done.stderr)
        expected, folder, counts = result(whole), home / "run", home / "counts"
        own = killer.environment
        for call, error in CALLS.items():
            def run(at, rest):
                shutil.rmtree(folder, ignore_errors=True)
                # What is made to fail lies in the run's folder: in the end all is as without it.
                environment = dict(own, LD_PRELOAD=shim, HEDDLE_FAIL_CALL=call, HEDDLE_FAIL_IN=str(folder), HEDDLE_FAIL_AT=str(at),
                                   HEDDLE_FAIL_ERRNO=str(error), HEDDLE_FAIL_COUNT=str(counts), HEDDLE_FAIL_REST=rest)
                return subprocess.run(command("short", home, folder, "--resume"), env=environment, capture_output=True, text=True, timeout=DEADLINE)

            counts.unlink(missing_ok=True)
            require(run(0, "").returncode == 0, "the run fails where no call does")
            most = max(map(int, counts.read_text().split())) if counts.exists() else 0
            require(most > 0, f"no {call} was counted")
            for rest in ("", "1"):
                for at in range(1, most + 1, every):
                    done, tried = run(at, rest), tried + 1
                    try:
                        check_after_failure(killer, folder, f"{call} {at}{' and all after it' if rest else ''}", done.stderr, done.returncode, expected)
                    except Failure as failure:
                        failed += 1
                        print(f"failed: {failure}", flush=True)
    print(f"survive: {tried} calls made to fail, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    what, numbers = sys.argv[1], [int(a) for a in sys.argv[2:]]
    if what == "calls":
        sys.exit(calls(numbers[0] if numbers else 1))
    sys.exit(kills(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1))
