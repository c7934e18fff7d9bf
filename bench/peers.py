"""A training step of Heddle, PyTorch and JAX, side by side on this machine's processors.

    python3 bench/peers.py                                     where this Python has torch, or jax and optax
    python3 bench/peers.py --torch VENV/bin/python --jax VENV/bin/python --rounds 7 --networks mnist_mlp,mnist_cnn

Every contender is one process with `--threads` threads. A round times about a second of each, in an order that turns from
round to round, so that a slow minute of the machine meets all of them; nothing else should run meanwhile. The table gives
the minimum and the median of the rounds, and the median of the ratios to Heddle within a round. `keep` is the same program
with an allocator that keeps freed memory, which is worth up to 2x to the peers where activations are large.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# glibc reads these when a process begins: large blocks then come from the heap and stay there.
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20), "MALLOC_ARENA_MAX": "1"}
MODES = {
    "mnist_mlp": ["torch eager", "torch compile", "jax jit", "jax scan"],
    # XLA's convolutions inside a loop are many times slower on a processor: no scan.
    "mnist_cnn": ["torch eager", "torch eager_nhwc", "torch compile", "jax jit"],
    "resnet20": ["torch eager", "torch eager_nhwc", "torch compile_nhwc", "jax jit"],
    "recommender": ["torch eager", "torch compile", "jax jit", "jax scan"],
    "char_gpt": ["torch eager", "torch compile", "jax jit", "jax scan"],
    "lstm_names": ["torch eager", "jax jit", "jax scan"],
    "gru_names": ["torch eager", "jax jit", "jax scan"],
    "bilstm_names": ["torch eager", "jax jit", "jax scan"],
    "lstm_200": ["torch eager", "jax jit", "jax scan"],
    "attention_1024": ["torch eager", "jax jit"],
    "attention_4096": ["torch eager", "jax jit"],
    "attention_causal_1024": ["torch eager", "jax jit"],
    "attention_causal_4096": ["torch eager", "jax jit"],
}
SETTLE_S = 0.3  # meanwhile the idle threads of the contender before stop spinning


class Peer:
    def __init__(self, name, network, options):
        self.name, self.blocks = name, []
        framework, mode = name.removesuffix(", keep").split()
        command = [getattr(options, framework), HERE / f"peer_{framework}.py", network, mode, str(options.threads)]
        environment = os.environ | (KEEP if name.endswith("keep") else {})
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env=environment, text=True, bufsize=1)
        ready = self.process.stdout.readline().split()
        if not ready:
            raise RuntimeError(f"{' '.join(map(str, command))} ended before its first step")
        self.version = ready[0]

    def block(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.blocks.append(float(self.process.stdout.readline()))

    def finish(self):
        self.process.stdin.close()
        self.process.wait(60)


class Heddle:
    name, version = "heddle", ""

    def __init__(self, network, options):
        self.blocks = []
        self.command = [options.heddle, "bench", *self.model(network), "--json", f"--threads={options.threads}",
                        f"--seconds={options.seconds}"]

    @staticmethod
    def model(network):
        """A model of bench/models, at a length that its name may end with; else one of models/."""
        own = HERE / "models" / f"{network}.json"
        if own.exists():
            return [str(own)]
        name, _, length = network.rpartition("_")
        own = HERE / "models" / f"{name}.json"
        return [str(own), f"--set=let.length={length}"] if own.exists() else [network]

    def block(self, _):
        run = subprocess.run(self.command, cwd=HERE.parent, capture_output=True, check=True, text=True)
        self.blocks.append(json.loads(run.stdout)["step_ms_median"])

    def finish(self):
        pass


def race(network, options):
    modes = [m + keep for m in MODES[network] if getattr(options, m.split()[0]) for keep in ("", ", keep")]
    contenders = [Heddle(network, options)]
    for name in modes:
        try:
            contenders.append(Peer(name, network, options))
        except RuntimeError as error:
            print(f"left out: {error}", file=sys.stderr)
    for turn in range(options.rounds):
        order = collections.deque(contenders)
        order.rotate(-turn)
        for contender in order:
            time.sleep(SETTLE_S)
            contender.block(options.seconds)
    for contender in contenders:
        contender.finish()
    return contenders


def rows(network, contenders):
    own = contenders[0].blocks
    for c in sorted(contenders, key=lambda c: statistics.median(c.blocks)):
        ratio = statistics.median(a / b for a, b in zip(c.blocks, own))
        yield f"| {network} | {c.name} | {c.version} | {min(c.blocks):.4g} | {statistics.median(c.blocks):.4g} | {ratio:.2f} |"


def has(python, modules):
    try:
        return subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode == 0
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(MODES))
    parser.add_argument("--torch", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--jax", default=sys.executable, help="a Python that has jax and optax")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--heddle", default=str(HERE.parent / "build/release/bin/heddle"))
    options = parser.parse_args()
    for framework, modules in (("torch", "torch"), ("jax", "jax, optax")):
        if not has(getattr(options, framework), modules):
            print(f"{framework}: '{getattr(options, framework)}' cannot import {modules}; left out", file=sys.stderr)
            setattr(options, framework, "")
    unknown = [n for n in options.networks.split(",") if n not in MODES]
    if unknown:
        parser.error(f"no network '{unknown[0]}': there are {', '.join(MODES)}")
    if not pathlib.Path(options.heddle).exists():
        parser.error(f"no program {options.heddle}: run tools/heddle once, which builds it")
    print("| network | contender | version | min ms | median ms | times Heddle |\n|---|---|---|---|---|---|")
    for network in options.networks.split(","):
        print("\n".join(rows(network, race(network, options))), flush=True)


main()
