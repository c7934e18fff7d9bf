"""What the peers share: the sizes of their batches, and the clock."""
import os
import sys
import time

# As the models say.
BATCHES = {"mnist_mlp": 128, "mnist_cnn": 128, "resnet20": 128, "recommender": 4096, "char_gpt": 12, "lstm_names": 128,
           "gru_names": 128, "bilstm_names": 128, "lstm_200": 128, "attention_1024": 1, "attention_4096": 1,
           "attention_causal_1024": 1, "attention_causal_4096": 1}
USERS, ITEMS = 6040, 3706  # of recommender
VOCABULARIES = {"char_gpt": 65, "lstm_names": 32, "gru_names": 32, "bilstm_names": 32, "lstm_200": 32}
LENGTHS = {"char_gpt": 64, "lstm_names": 20, "gru_names": 20, "bilstm_names": 20, "lstm_200": 200}
HEADS, HEAD_WIDTH = 12, 64  # of attention alone, whose length its name ends with
WIDTHS = {"char_gpt": 128, "lstm_names": 128, "gru_names": 128, "bilstm_names": 128, "lstm_200": 64}
RING = 64  # random batches that lie in memory and are taken in turn, as `heddle bench` does


def ring_of(network):
    return 4 if network.startswith("attention") else RING  # a batch of it is up to 25 MB


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
