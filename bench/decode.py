"""Tokens that a model writes, Heddle's beside PyTorch's with a cache, and beside what the memory can give.

    python3 bench/decode.py build/release/bin/heddle --rounds 5 --networks gpt2_124m,char_gpt

Needs torch, and g++ for the stream test: threads that read a block of memory and add it up. A round is one text of each
side, 32 tokens that are read and 128 that are drawn one by one, with random weights, and the stream test around them. The
figure of a side in a round is its median time from token to token, drawing included. The first ratio is PyTorch's time over
Heddle's, the second one the bytes of the weights over Heddle's time over the stream's rate; each is the median over the
rounds, with the least and the largest. Nothing else should run meanwhile.
"""
import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
READ, DRAWN = 32, 128
# Layers, heads, width, context, vocabulary, whether layers have biases, the kind of gelu.
NETWORKS = {"gpt2_124m": (12, 12, 768, 1024, 50257, True, "tanh"), "char_gpt": (4, 4, 128, 256, 28, False, "none")}
POSITIONS = {"gpt2_124m": "wpe", "char_gpt": "emb"}  # the table's name there
STREAM = r"""
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <vector>
int main(int, char** argv) {
  const size_t threads = std::strtoul(argv[1], nullptr, 10), n = size_t{1} << 27, huge = size_t{1} << 21;
  float* x = static_cast<float*>(std::aligned_alloc(huge, n * sizeof(float)));
  madvise(x, n * sizeof(float), MADV_HUGEPAGE);
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i & 7);
  std::vector<float> sums(threads * 64);
  for (int run = 0; run < 12; ++run) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> all;
    for (size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        float sum[64] = {};
        for (size_t i = n / threads * t; i < n / threads * (t + 1); i += 64)
          for (size_t j = 0; j < 64; ++j) sum[j] += x[i + j];
        for (float s : sum) sums[t * 64] += s;
      });
    for (std::thread& t : all) t.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.6g\n", static_cast<double>(n * sizeof(float)) / took.count());
  }
  return sums[0] < 0;
}
"""


class Layer(torch.nn.Module):
    def __init__(self, heads, width, bias, gelu):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.ln_1, self.ln_2 = (torch.nn.LayerNorm(width, bias=bias) for _ in range(2))
        self.qkv, self.proj = torch.nn.Linear(width, 3 * width, bias), torch.nn.Linear(width, width, bias)
        self.fc, self.out = torch.nn.Linear(width, 4 * width, bias), torch.nn.Linear(4 * width, width, bias)

    def forward(self, x, keys, values, at):
        n, tokens, width = x.shape
        split = self.qkv(self.ln_1(x)).split(width, 2)
        q, k, v = (y.view(n, tokens, self.heads, width // self.heads).transpose(1, 2) for y in split)
        end = at + tokens
        keys[:, :, at:end], values[:, :, at:end] = k, v
        seen = F.scaled_dot_product_attention(q, keys[:, :, :end], values[:, :, :end], is_causal=tokens > 1)
        x = x + self.proj(seen.transpose(1, 2).reshape(n, tokens, width))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate=self.gelu))


class Gpt(torch.nn.Module):
    def __init__(self, layers, heads, width, context, vocabulary, bias, gelu):
        super().__init__()
        self.wte, self.wpe = torch.nn.Embedding(vocabulary, width), torch.nn.Embedding(context, width)
        self.h = torch.nn.ModuleList(Layer(heads, width, bias, gelu) for _ in range(layers))
        self.ln_f = torch.nn.LayerNorm(width, bias=bias)
        self.cache = [torch.zeros(2, 1, heads, context, width // heads) for _ in range(layers)]

    def forward(self, tokens, at):
        x = self.wte(tokens) + self.wpe(torch.arange(at, at + tokens.shape[1]))
        for layer, (keys, values) in zip(self.h, self.cache):
            x = layer(x, keys, values, at)
        return self.ln_f(x[:, -1]) @ self.wte.weight.T


def write_weights(model, path, positions):
    """As safetensors, by the names of Heddle's models, whose dense layers lie as PyTorch's."""
    header, at = {}, 0
    tensors = {name.replace("wpe", positions): t.detach().contiguous() for name, t in model.named_parameters()}
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + 4 * t.numel()]}
        at += 4 * t.numel()
    text = json.dumps(header).encode()
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            out.write(t.numpy().tobytes())
    return at


def write_tokenizer(vocabulary, path):
    model = {"type": "WordLevel", "vocab": {f"w{i}": i for i in range(vocabulary)}, "unk_token": "w0"}
    with open(path, "w") as out:
        json.dump({"version": "1.0", "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": model}, out)


def between(times):
    return statistics.median(b - a for a, b in zip(times, times[1:]))


class Pair:
    def __init__(self, name, heddle, folder, threads):
        self.name = name
        _, _, _, context, vocabulary, _, _ = NETWORKS[name]
        torch.manual_seed(1)
        self.model = Gpt(*NETWORKS[name]).eval()
        for p in self.model.parameters():
            torch.nn.init.normal_(p, std=0.02)
        weights, tokenizer = folder / f"{name}.safetensors", folder / f"{name}.json"
        self.bytes = write_weights(self.model, weights, POSITIONS[name]) - 4 * self.model.wpe.weight.numel()  # of a table one row is read
        write_tokenizer(vocabulary, tokenizer)
        self.tokens = [37 * i % vocabulary for i in range(READ)]
        prompt = " ".join(f"w{t}" for t in self.tokens)
        self.command = [heddle, "generate", str(MODELS / f"{name}.json"), "--set", f"let.ctx={context}", "--weights", str(weights),
                        "--tokenizer", str(tokenizer), "--prompt", prompt, "--tokens", str(DRAWN),
                        "--only-new", "--device", "host", "--threads", str(threads)]

    def ours(self):
        """Of each token as it is written: a word each."""
        times = []
        with subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            while piece := os.read(process.stdout.fileno(), 1 << 12):
                if piece.strip():
                    times.append(time.perf_counter())
            if process.wait() != 0:
                sys.exit(f"heddle generate: {process.stderr.read().decode()}")
        return between(times)

    @torch.inference_mode()
    def theirs(self):
        logits, times = self.model(torch.tensor([self.tokens]), 0), []
        for at in range(READ, READ + DRAWN):
            token = torch.multinomial(torch.softmax(logits, -1), 1)
            times.append(time.perf_counter())
            logits = self.model(token, at)
        return between(times)


def shown(values, digits):
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "stream.cpp").write_text(STREAM)
        flags = ["-O3", "-march=native", "-ffast-math", "-pthread"]
        subprocess.run(["g++", *flags, str(folder / "stream.cpp"), "-o", str(folder / "stream")], check=True)

        def stream():
            out = subprocess.run([str(folder / "stream"), str(a.threads)], capture_output=True, text=True, check=True).stdout
            return [float(line) for line in out.split()]

        print("| network | Heddle, tokens a second | PyTorch | times PyTorch | stream, GB/s | of the stream |\n|---|---|---|---|---|---|")
        for network in a.networks.split(","):
            pair, ours, theirs, rates = Pair(network, a.heddle, folder, a.threads), [], [], []
            pair.ours(), pair.theirs()  # what is compiled and made once
            for turn in range(a.rounds):
                rate = stream()
                for side in (ours, theirs) if turn % 2 == 0 else (theirs, ours):
                    side.append(pair.ours() if side is ours else pair.theirs())
                    time.sleep(0.3)  # idle threads stop spinning
                rates.append(statistics.median(rate + stream()))
            faster = [t / o for o, t in zip(ours, theirs)]
            share = [pair.bytes / o / rate for o, rate in zip(ours, rates)]
            print(f"| {network} | {shown([1 / t for t in ours], 1)} | {shown([1 / t for t in theirs], 1)} | {shown(faster, 2)} | "
                  f"{shown([r / 1e9 for r in rates], 1)} | {shown(share, 2) if pair.bytes > 1 << 28 else 'in the cache'} |", flush=True)


if __name__ == "__main__":
    main()
