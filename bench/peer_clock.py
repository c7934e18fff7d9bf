"""What the peers share: the sizes of their batches, and the clock."""
import os
import sys
import time

BATCHES = {"mnist_mlp": 128, "mnist_cnn": 128, "resnet20": 128, "recommender": 4096}  # as the models say
USERS, ITEMS = 6040, 3706  # of recommender
RING = 64  # random batches that lie in memory and are taken in turn, as `heddle bench` does


def serve(version, run, grain=1):
    """`run(n)` does n steps, a multiple of `grain`, and waits for the last."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a framework prints goes to standard error
    seconds_per_step = 1.0

    def timed(steps):
        nonlocal seconds_per_step
        begin = time.perf_counter()
        run(steps)
        seconds_per_step = (time.perf_counter() - begin) / steps

    def steps_in(seconds):
        return max(1, round(seconds / seconds_per_step / grain)) * grain

    for _ in range(3):
        timed(grain)
    timed(steps_in(0.3))
    print(version, file=out)
    for line in sys.stdin:
        timed(steps_in(float(line) / 20))  # brings caches and clocks back
        timed(steps_in(float(line)))
        print(seconds_per_step * 1e3, file=out)
