#!/usr/bin/env python3
"""Ids and speed of `heddle tokenize` beside PyPI's `tokenizers` on text of many scripts: check_tokenizers.py [--size MB] [--only NAME ...]

Text is drawn from the blocks of SCRIPTS: words whose frequencies fall as their rank grows, words that come once, spaces, signs, digits and
emoji. On a part of it the package trains TOKENIZERS; both programs then read all of it, line by line, and four lines of each code point
of Unicode 14, which PCRE2 10.42 knows. They have the same ids, but for what `excused` names. Times are of the processor, piece by piece in
turns: of the package its fastest call on one thread, of Heddle the whole command, with reading and printing, without the start. HEDDLE is
the binary. Exit 77 (skipped) where the package or perl, which knows the age of code points, is missing.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
try:
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError:
    print("skipped: no package `tokenizers`")
    sys.exit(77)
if not shutil.which("perl"):
    print("skipped: no perl")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEDDLE = os.environ.get("HEDDLE", str(ROOT / "build/release/bin/heddle"))
SCRIPTS = {  # blocks
    "latin": [(0x41, 0x7B), (0x41, 0x7B), (0xC0, 0x250), (0x1E00, 0x1F00)], "phonetic": [(0x250, 0x300), (0x1D00, 0x1DC0)],
    "greek": [(0x370, 0x400), (0x1F00, 0x2000)], "cyrillic": [(0x400, 0x530)], "armenian": [(0x530, 0x590)], "hebrew": [(0x590, 0x600)],
    "arabic": [(0x600, 0x700), (0x750, 0x780)], "syriac": [(0x700, 0x750)], "thaana": [(0x780, 0x7C0)], "nko": [(0x7C0, 0x800)],
    "devanagari": [(0x900, 0x980)], "bengali": [(0x980, 0xA00)], "gurmukhi": [(0xA00, 0xA80)], "gujarati": [(0xA80, 0xB00)],
    "oriya": [(0xB00, 0xB80)], "tamil": [(0xB80, 0xC00)], "telugu": [(0xC00, 0xC80)], "kannada": [(0xC80, 0xD00)],
    "malayalam": [(0xD00, 0xD80)], "sinhala": [(0xD80, 0xE00)], "thai": [(0xE00, 0xE80)], "lao": [(0xE80, 0xF00)],
    "tibetan": [(0xF00, 0x1000)], "myanmar": [(0x1000, 0x10A0)], "georgian": [(0x10A0, 0x1100)], "ethiopic": [(0x1200, 0x13A0)],
    "cherokee": [(0x13A0, 0x1400)], "khmer": [(0x1780, 0x1800)], "mongolian": [(0x1800, 0x18B0)], "hangul": [(0xAC00, 0xD7A4), (0x1100, 0x1200)],
    "kana": [(0x3040, 0x3100), (0xFF00, 0xFFF0)], "han": [(0x4E00, 0xA000), (0x3400, 0x3500), (0x20000, 0x20100), (0xF900, 0xFA00)],
    "yi": [(0xA000, 0xA4D0)], "gothic": [(0x10330, 0x10350)],
}
SIGNS = [(0x21, 0x30), (0x3A, 0x41), (0xA1, 0xC0), (0x2010, 0x2070), (0x20A0, 0x20C1), (0x2190, 0x2300), (0x3000, 0x3020), (0x1F300, 0x1F650)]
DIGITS = [(0x30, 0x3A), (0x30, 0x3A), (0x660, 0x66A), (0x966, 0x970), (0x2150, 0x218C), (0xFF10, 0xFF1A)]
SPACES = [" "] * 40 + ["  ", "   ", "\t", "\u00a0", "\u3000", "\u2009", "", ""]
SPACE = "\u180e"  # one for the package's regular expressions, by our choice none here
LLAMA = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def present(version):
    """The characters that a version of Unicode has."""
    script = f"for (0..0xd7ff, 0xe000..0x10ffff) {{ print \"$_ \" if chr($_) =~ /\\p{{Present_In: {version}}}/ && chr($_) !~ /[\\p{{Cc}}\\p{{Cn}}\\p{{Co}}]/ }}"
    return {chr(int(code)) for code in subprocess.run(["perl", "-e", script], stdout=subprocess.PIPE, text=True, check=True).stdout.split()}


PRESENT = present("14.0")


def known(ranges):
    return [[chr(c) for c in range(low, high) if chr(c) in PRESENT] for low, high in ranges]


class Text:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.blocks = {name: known(ranges) for name, ranges in SCRIPTS.items()}
        self.words = {name: [self.word(name) for _ in range(4000)] for name in SCRIPTS}
        self.signs, self.digits = known(SIGNS), known(DIGITS)

    def word(self, script):
        block = self.draw.choice(self.blocks[script])
        return "".join(self.draw.choice(block) for _ in range(min(24, 1 + int(self.draw.expovariate(0.25)))))

    def some(self, blocks, most):
        block = self.draw.choice(blocks)
        return "".join(self.draw.choice(block) for _ in range(self.draw.randint(1, most)))

    def piece(self, script):
        kind = self.draw.random()
        if kind < 0.80:  # of the k-th word of 4,000 about 1 / k
            return self.words[script][int(4000 ** self.draw.random()) - 1]
        if kind < 0.88:
            return self.word(script)
        return self.some(self.signs, 2) if kind < 0.95 else self.some(self.digits, 6)

    def line(self):
        scripts = self.draw.choices(list(SCRIPTS), k=self.draw.choice((1, 1, 2)))
        parts = []
        for _ in range(self.draw.randint(1, 24)):
            parts += [self.piece(self.draw.choice(scripts)), self.draw.choice(SPACES)]
        return "".join(parts)

    def lines(self, size):
        out = []
        while size > 0:
            out.append(self.line())
            size -= len(out[-1].encode()) + 1
        return out


def trained(model, trainer, text, normalizer=None, pre_tokenizer=None):
    made = Tokenizer(model)
    if normalizer is not None:
        made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizer
    made.train_from_iterator(text, trainer)
    return made


def bpe(text, normalizer, pre_tokenizer, model=None, **more):
    trainer = trainers.BpeTrainer(vocab_size=12000, show_progress=False, **more)
    return trained(models.BPE(**model or {}), trainer, text, normalizer, pre_tokenizer)


def word_piece(text, lower, normalizer=None):
    trainer = trainers.WordPieceTrainer(vocab_size=12000, special_tokens=["[UNK]"], show_progress=False)
    normalizer = normalizer or normalizers.BertNormalizer(lowercase=lower)
    return trained(models.WordPiece(unk_token="[UNK]"), trainer, text, normalizer, pre_tokenizers.BertPreTokenizer())


def unigram(text, normalizer):
    trainer = trainers.UnigramTrainer(vocab_size=8000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    # Of more text the characters alone would be more than the tokens.
    return trained(models.Unigram(), trainer, text[:1200], normalizer, pre_tokenizers.Metaspace())


def split(expression):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


ALPHABET = pre_tokenizers.ByteLevel.alphabet()
FALLBACK = {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
TOKENIZERS = {
    "bpe": lambda text: bpe(text, normalizers.NFC(), pre_tokenizers.Whitespace(), {"unk_token": "<unk>"}, special_tokens=["<unk>"], limit_alphabet=3000),
    "bpe_byte_fallback": lambda text: bpe(text, None, pre_tokenizers.Metaspace(), FALLBACK, special_tokens=["<unk>", *BYTES], limit_alphabet=2000),
    "byte_level_bpe": lambda text: bpe(text, None, pre_tokenizers.ByteLevel(add_prefix_space=False), initial_alphabet=ALPHABET),
    "byte_level_bpe_split": lambda text: bpe(text, normalizers.NFC(), split(LLAMA), initial_alphabet=ALPHABET),
    "wordpiece": lambda text: word_piece(text, lower=False),
    "wordpiece_lower": lambda text: word_piece(text, lower=True),
    "unigram": lambda text: unigram(text, normalizers.NFKC()),
    "unigram_lower": lambda text: unigram(text, normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])),
}


def ours(tokenizer, text, out):
    """Seconds of the processor that the command takes, with its start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(out, "w") as file:
        subprocess.run([HEDDLE, "tokenize", str(tokenizer), str(text)], stdout=file, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def theirs(tokenizer, lines):
    ids, begin = [], time.process_time()
    for at in range(0, len(lines), 1000):
        ids += [one.ids for one in tokenizer.encode_batch_fast(lines[at:at + 1000], add_special_tokens=False)]
    return time.process_time() - begin, ids


class Pair:
    """A tokenizer in both programs."""

    def __init__(self, name, made, folder):
        self.path, self.text, self.out = folder / f"{name}.json", folder / "text.txt", folder / "ids.txt"
        made.save(str(self.path))
        self.made = Tokenizer.from_file(str(self.path))
        self.made.encode_special_tokens = True
        self.text.write_text("")
        self.start = statistics.median(ours(self.path, self.text, self.out) for _ in range(5))
        parts = json.loads(self.path.read_text())
        self.scores = [score for _, score in parts["model"]["vocab"]] if parts["model"]["type"] == "Unigram" else None

    def excused(self, line, a, b):
        if SPACE in line:
            return "U+180E"
        if self.scores and abs(sum(self.scores[i] for i in a) - sum(self.scores[i] for i in b)) < 1e-9:
            return "equal scores"
        return None

    def compare(self, lines):
        """How many lines differ by their excuses, those without one, and the seconds of both."""
        self.text.write_text("\n".join(lines) + "\n")
        mine = ours(self.path, self.text, self.out) - self.start
        other, wanted = theirs(self.made, lines)
        found = [[int(i) for i in line.split()] for line in self.out.read_text().split("\n")[:-1]]
        assert len(found) == len(lines), (len(found), len(lines))
        differ = [(line, a, b, self.excused(line, a, b)) for line, a, b in zip(lines, found, wanted) if a != b]
        return collections.Counter(excuse for *_, excuse in differ if excuse), [of[:3] for of in differ if not of[3]], (mine, other)

    def check(self, what, lines, pieces):
        excuses, wrong, seconds = collections.Counter(), [], []
        size = -(-len(lines) // pieces)
        for at in range(0, len(lines), size):
            some, bad, took = self.compare(lines[at:at + size])
            excuses += some
            wrong += bad
            seconds.append(took)
        mine, other = (sum(of) for of in zip(*seconds))
        ratio = statistics.median(b / a for a, b in seconds)
        mb = sum(len(line.encode()) + 1 for line in lines) / 1e6
        print(f"{self.path.stem}, {what}: {len(lines)} lines, {len(wrong)} differ, excused {dict(excuses)}; {mb / mine:.1f} MB/s beside "
              f"{mb / other:.1f}, ratio {ratio:.2f}", flush=True)
        for line, a, b in wrong[:3]:
            print("  ", json.dumps(line, ensure_ascii=False), a, b, sep="\n    ")
        return not wrong and ratio >= 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=float, default=10, help="MB of text")
    parser.add_argument("--pieces", type=int, default=10, help="in which the two take turns")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(TOKENIZERS))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the text and the tokenizers, which are read there if they exist")
    given = parser.parse_args()
    lines = Text(given.seed).lines(int(given.size * 1e6))
    every = [line for c in sorted(PRESENT) for line in (f"a{c}b", f"{c} {c}{c}", f"e{c}\u0301 .{c}\u0323", f"7{c}  {c}.")]
    good = True
    with tempfile.TemporaryDirectory() as own:
        folder = given.keep or pathlib.Path(own)
        folder.mkdir(exist_ok=True)
        for name in given.only:
            path = folder / f"{name}.json"
            made = Tokenizer.from_file(str(path)) if path.exists() else TOKENIZERS[name](lines[: max(1000, len(lines) // 5)])
            pair = Pair(name, made, folder)
            good = pair.check("text", lines, given.pieces) and good
            good = pair.check("each code point", every, 4) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
