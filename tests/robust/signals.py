#!/usr/bin/env python3
"""Sends signals to trainings at random moments, and holds each run to what is promised.

    signals.py campaign RUNS [SEED]   every model, at any moment: start, compilation, training, validation, saving; some benches
    signals.py cuda RUNS [SEED]       two models on the fake of NVIDIA's driver; what it holds at the end is all given back
    signals.py heap [RUNS]            mnist_mlp on MNIST, interrupted after 1 to 2 s: a handler's frame once landed in the heap there

A run gets SIGINT, SIGTERM or SIGHUP once, or twice in quick succession, or SIGKILL. Whatever the moment:
  - it ends within a minute, by itself, with exit code 130, 143 or 129 (a process that has not yet reached main ends by the signal);
  - nothing that it started lives on, and nothing stays in the temporary directory or, half written, in the cache or beside the weights;
  - once it has announced its device, one signal leaves weights that load; without weights saved, older ones are as they were;
  - what a killed run leaves behind is gone after the next run.
A run that fails prints its number, from which `RUNS SEED` gives the same choices again. HEDDLE is the binary. Exit 77: skipped.
"""
import fcntl
import gzip
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import safetensors_file  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE", str(ROOT / "build/release/bin/heddle"))
SKIPPED = 77
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MODELS = ("digits_cnn", "mlp", "mnist_cnn", "mnist_mlp", "tiny_mlp")
TINY_DATA = '--set=data={"train": {"op": "idx", "x": "x.idx", "target": "target.idx"}}'
OWN_ROWS = ("--set=data.train.rows=300", "--set=data.test.rows=40")
OWN_DATA = {"tiny_mlp": (TINY_DATA,), "digits_cnn": OWN_ROWS, "recommender": ("--small", *OWN_ROWS)}
ENDLESS = ("--set=train.epochs=100000000", "--set=train.steps=1000000000")
DEADLINE = 60
AGAIN = 240  # for a run after it, which may compile on a busy machine
BAD_WORDS = ("Sanitizer", "runtime error:", "internal error", "terminate called", "corrupted", "free()", "malloc")


class Failure(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failure(message)


def write_idx(path, code, dims, data):
    """One file of the idx format: type code, sizes, elements."""
    content = bytes((0, 0, code, len(dims))) + struct.pack(f">{len(dims)}I", *dims) + data
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)


def make_data(folder):
    """Data for every model: as many rows as make short epochs with a ragged end, names as in MNIST."""
    rng = random.Random(0)
    for name, rows in (("train", 300), ("t10k", 70)):
        write_idx(folder / f"{name}-images-idx3-ubyte.gz", 8, (rows, 28, 28), rng.randbytes(rows * 784))
        write_idx(folder / f"{name}-labels-idx1-ubyte.gz", 8, (rows,), bytes(rng.randrange(10) for _ in range(rows)))
    for name, width in (("x", 3), ("target", 2)):
        write_idx(folder / f"{name}.idx", 0x0D, (36, width), struct.pack(f">{36 * width}f", *(rng.random() for _ in range(36 * width))))


def train_command(model, folder, *more):
    own = OWN_DATA.get(model, ())
    return [HEDDLE, "train", str(ROOT / f"models/{model}.json"), "--data", str(folder), "--set=train.batch.N=16", *own, *more]


class Host:
    """Where trainings run, and what is checked there at the end."""

    name, models, environment = "host", MODELS, {}

    def check(self, folder):
        pass


class FakeCuda:
    name, models = "cuda:0", ("tiny_mlp", "recommender")
    environment = {"LD_LIBRARY_PATH": str(pathlib.Path(HEDDLE).parent.parent / "fake_cuda"), "HEDDLE_CUDA_CODE": "ptx", "HEDDLE_FAKE_CUDA_RACES": "0"}

    def check(self, folder):
        report = folder / "report"
        if report.exists():
            violations = [line for line in report.read_text().splitlines() if line.startswith("violation: ")]
            require(not violations, "\n".join(violations))


device = Host()


def check_weights(path):
    """The file is whole: tensors tile the data."""
    content = path.read_bytes()
    require(len(content) >= 8, f"weights of {len(content)} bytes")
    header, data = safetensors_file.split(content)
    header.pop("__metadata__", None)
    end = max(t["data_offsets"][1] for t in header.values())
    require(len(data) == end, f"the data of the weights end at {len(data)}, expected {end}")


def session_members(leader):
    """Processes that live in the session that `leader` began: all that it started."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


class Run:
    """One training, from its start to the checks after its end."""

    def __init__(self, number, seed, home):
        self.random = random.Random(f"{seed}/{number}")
        self.number, self.home = number, home
        self.folder = home / f"run{number}"
        self.model = device.models[number % len(device.models)]
        kind = self.random.choices(("once", "twice", "kill"), (6, 3, 1))[0]
        self.first = signal.SIGKILL if kind == "kill" else self.random.choice(SIGNALS)
        self.second = self.random.choice(SIGNALS) if kind == "twice" else None
        self.gap = self.random.choice((0, 0.001, 0.02))
        # Half of the runs compile, which takes long; the others find the kernels of runs before them.
        self.cold = self.random.random() < 0.5
        self.after_start = self.random.random() < (0.3 if self.cold else 0.7)  # counted from the training's first sign
        self.delay = self.random.random() ** 2 * (0.5 if self.after_start else 2.5 if self.cold else 0.4)
        self.older = self.random.random() < 0.5  # weights of an earlier run are in the way
        # bench instead of train: any signal is its end. What it leaves when it is killed is gone after the next run that compiles.
        self.bench = self.random.random() < 0.15 and kind != "kill"
        if self.bench:
            self.after_start, self.delay = False, self.random.random() * 3

    def __str__(self):
        moment = f"{self.delay:.3f} s after the {'announcement' if self.after_start else 'start'}"
        second = f" and {self.second.name}" if self.second else ""
        return f"run {self.number}: {'bench' if self.bench else 'train'} {self.model}, {'cold' if self.cold else 'warm'}, {self.first.name}{second} {moment}"

    def environment(self):
        cache = self.folder / "cache" if self.cold else self.home / "cache"
        report = str(self.folder / "report")
        return dict(os.environ, TMPDIR=str(self.folder / "tmp"), HEDDLE_CACHE=str(cache), HEDDLE_FAKE_CUDA_REPORT=report, **device.environment)

    def command(self, weights):
        if self.bench:
            return [HEDDLE, "bench", str(ROOT / f"models/{self.model}.json"), "--set=train.batch.N=16", "--seconds=3600"]
        return train_command(self.model, self.home, *ENDLESS, "--save", str(weights))

    def leftovers(self):
        cache = pathlib.Path(self.environment()["HEDDLE_CACHE"])
        found = [*(self.folder / "tmp").iterdir(), *(p for p in (self.folder / "out").iterdir() if p.name != "w.safetensors")]
        return [str(p) for p in found + [p for p in cache.glob("*") if "tmp" in p.name]]

    def execute(self):
        for name in ("tmp", "out"):
            (self.folder / name).mkdir(parents=True)
        weights = self.folder / "out/w.safetensors"
        if self.older:
            weights.write_bytes((4).to_bytes(8, "little") + b"{}  ")
        before = weights.read_bytes() if self.older else None
        log = self.folder / "stderr"
        with open(log, "wb") as out:
            process = subprocess.Popen(
                self.command(weights), stdout=subprocess.DEVNULL, stderr=out, env=self.environment(), start_new_session=True)
        try:
            self.send(process, log)
            code = process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failure("it is still running a minute after the signal") from None
        finally:
            process.kill()
        said = log.read_text(errors="replace")
        require(wait_until(lambda: not session_members(process.pid), 10), f"still running: {session_members(process.pid)}")
        self.check(code, said, weights, before)
        shutil.rmtree(self.folder)

    def send(self, process, log):
        if self.after_start:
            wait_until(lambda: f": {device.name}".encode() in log.read_bytes() or process.poll() is not None, DEADLINE)
        time.sleep(self.delay)
        process.send_signal(self.first)
        if self.second:
            time.sleep(self.gap)
            process.send_signal(self.second)

    def check(self, code, said, weights, before):
        for word in BAD_WORDS:
            require(word not in said, f"it said '{word}':\n{said}")
        if self.first == signal.SIGKILL:
            require(code == -signal.SIGKILL, f"exit {code}")
            return self.check_after_kill(weights, before)
        numbers = {self.first, self.second} - {None}
        in_main = code in {128 + n for n in numbers}
        require(in_main or (not said and code in {-n for n in numbers}), f"exit {code}:\n{said}")
        require(not self.leftovers(), f"left behind: {self.leftovers()}")
        if not self.second:  # which ends it at once
            device.check(self.folder)
        announced, saved = f": {device.name}" in said, "weights saved" in said
        if announced and not self.second:
            require(saved, f"announced, but not saved:\n{said}")
        if saved:
            check_weights(weights)
            self.load(weights)
        elif not self.second:
            require((weights.read_bytes() if weights.exists() else None) == before, "not saved, but the weights differ")
        elif weights.exists():
            check_weights(weights) if weights.read_bytes() != before else None

    def load(self, weights):
        """Heddle itself starts from them; the kernels are those that the run has left in its cache."""
        again = train_command(self.model, self.home, "--set=train.epochs=1", "--set=train.steps=1", "--weights", str(weights))
        done = subprocess.run(again, env=self.environment(), capture_output=True, text=True, timeout=AGAIN)
        require(done.returncode == 0, f"the weights do not load:\n{done.stderr}")

    def check_after_kill(self, weights, before):
        """The next run in the same place removes what the killed one left."""
        if weights.exists() and weights.read_bytes() != before:
            check_weights(weights)
        again = train_command(self.model, self.home, "--set=train.epochs=1", "--set=train.steps=1", "--save", str(weights))
        done = subprocess.run(again, env=self.environment(), capture_output=True, text=True, timeout=AGAIN)
        require(done.returncode == 0, f"the next run fails:\n{done.stderr}")
        require(not self.leftovers(), f"not swept: {self.leftovers()}")


def is_stuck(process):
    """The pipe of its messages has no room for a line: it is nearly full, and nothing was added for half a second."""

    def unread():
        return int.from_bytes(fcntl.ioctl(process.stderr, termios.FIONREAD, bytes(4)), sys.byteorder)

    before = unread()
    if before < 60000:
        return False
    time.sleep(0.5)
    return unread() == before


def second_signal(home):
    """A training that waits for the reader of its messages cannot end its step: the first signal waits, too, the second does not."""
    process = subprocess.Popen(train_command("tiny_mlp", home, *ENDLESS), stderr=subprocess.PIPE, start_new_session=True)
    try:
        require(wait_until(lambda: is_stuck(process), DEADLINE), "the training does not fill the pipe")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        require(process.poll() is None, "it has ended though its reader sleeps")
        process.send_signal(signal.SIGTERM)
        require(wait_until(lambda: process.poll() is not None, 10), "the second signal does not end it")
        require(process.returncode == 128 + signal.SIGTERM, f"exit {process.returncode}")
    finally:
        process.kill()
        process.stderr.close()


def campaign(runs, seed):
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        make_data(home)
        try:
            second_signal(home)
        except Failure as failure:
            failed += 1
            print(f"failed: second signal: {failure}", flush=True)
        for number in range(runs):
            run = Run(number, seed, home)
            try:
                run.execute()
            except Failure as failure:
                failed += 1
                print(f"failed: {run} (seed {seed}): {failure}", flush=True)
    print(f"signals: {runs} runs and a second signal, {failed} failed, seed {seed}")
    return 1 if failed else 0


def heap(runs):
    data = pathlib.Path(os.environ.get("HEDDLE_DATA", ROOT.parent / "shared/data")) / "mnist"
    if not data.is_dir():
        print(f"skipped: no MNIST in {data.parent}")
        return SKIPPED
    rng, failed = random.Random(1), 0
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            weights = pathlib.Path(folder) / "w"
            process = subprocess.Popen(
                [HEDDLE, "train", str(ROOT / "models/mnist_mlp.json"), "--data", str(data), "--set=train.epochs=200", "--save", str(weights)],
                stderr=subprocess.PIPE, text=True, bufsize=1)
            said = process.stderr.readline()  # the announcement: what comes next is training
            time.sleep(1 + rng.random())
            number_sent = SIGNALS[number % len(SIGNALS)]
            process.send_signal(number_sent)
            said += process.communicate(timeout=DEADLINE)[1]
            try:
                require(process.returncode == 128 + number_sent, f"exit {process.returncode}:\n{said}")
                require(not any(word in said for word in BAD_WORDS), f"it said:\n{said}")
                check_weights(weights)
            except (Failure, OSError) as failure:
                failed += 1
                print(f"failed: run {number}, {number_sent.name}: {failure}", flush=True)
    print(f"heap: {runs - failed} of {runs} runs ended as promised")
    return 1 if failed else 0


if __name__ == "__main__":
    for each in SIGNALS:  # what is ignored here would be ignored by the command, too
        signal.signal(each, signal.SIG_DFL)
    what, numbers = sys.argv[1], [int(a) for a in sys.argv[2:]]
    if what == "cuda":
        if "ok  nvrtc" not in subprocess.run([HEDDLE, "doctor"], capture_output=True, text=True).stdout:
            sys.exit(SKIPPED)
        device = FakeCuda()
    if what in ("campaign", "cuda"):
        sys.exit(campaign(numbers[0], numbers[1] if len(numbers) > 1 else 1))
    sys.exit(heap(*numbers or [20]))
