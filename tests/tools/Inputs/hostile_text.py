"""What no honest program wrote, in text: tokenizers, texts, tables of texts, sounds, prompts, and models of sequences.

    hostile_text.py FOLDER [plain]

Each must end with exit code 1, or 2 (a word of the command line), and one message: it begins with a place or with `error:`, says what is
named here, and writes nothing. `plain`: within 2 s of processor time and 256 MB. FOLDER has writer.json (tests/tools/hostile_text.test),
and w, which it was trained to.
"""
import json
import os
import pathlib
import struct
import sys

folder, plain = pathlib.Path(sys.argv[1]), sys.argv[2:] == ["plain"]
os.chdir(folder)
SECONDS, KILOBYTES = 2, 256 << 10
cases = []  # (words, exit code, what the message says)
files = pathlib.Path("hostile")


def write(name, content):
    path = files / f"{len(cases)}_{name}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


# --- tokenizers ---

BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}


def tokenizer(says, text):
    text = text if isinstance(text, (str, bytes)) else json.dumps(text)
    cases.append((["tokenize", write("tokenizer.json", text), "text"], 1, says))


def part(says, kind, value, model=None):
    tokenizer(says, {kind: value, "model": model or BPE})


def tokenizers():
    tokenizer("the file is empty", "")
    tokenizer("", "[" * 100000)
    tokenizer("", '{"model": {"type": "BPE", "vocab": {"a": 0')
    tokenizer("", "[]")
    tokenizer("model", "{}")
    tokenizer("UTF-8", b'{"model": {"type": "BPE", "vocab": {"\xff": 0}, "merges": []}}')
    tokenizer("Nothing", {"model": {"type": "Nothing", "vocab": {}}})
    tokenizer("", {"model": dict(BPE, vocab=["a"])})
    tokenizer("", {"model": dict(BPE, vocab={"a": -1})})
    tokenizer("", {"model": dict(BPE, vocab={"a": 0.5})})
    tokenizer("", {"model": dict(BPE, vocab={"a": 1 << 40})})
    tokenizer("", {"model": dict(BPE, vocab={"a": 0, "b": 0, "ab": 1})})
    tokenizer("", {"model": dict(BPE, merges=["a c"])})  # merges that do not fit
    tokenizer("", {"model": dict(BPE, merges=["b a"])})  # ba is no token
    tokenizer("", {"model": dict(BPE, merges=["a b c"])})
    tokenizer("", {"model": dict(BPE, merges=["ab"])})
    tokenizer("", {"model": dict(BPE, merges=[["a", "b", "c"]])})
    tokenizer("", {"model": dict(BPE, merges=[1])})
    tokenizer("", {"model": dict(BPE, unk_token="none")})
    tokenizer("", {"model": dict(BPE, dropout=0.1)})
    tokenizer("", {"model": {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "none"}})
    tokenizer("", {"model": {"type": "Unigram", "vocab": [["a", "x"]]}})
    tokenizer("", {"model": {"type": "Unigram", "vocab": [["a"]]}})
    tokenizer("", {"model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 7}})
    part("Nmt", "normalizer", {"type": "Nmt"})
    part("", "normalizer", {"type": "Replace", "pattern": {"Regex": "("}, "content": ""})
    part("", "normalizer", {"type": "Sequence", "normalizers": 3})
    part("", "normalizer", "NFC")
    part("UnicodeScripts", "pre_tokenizer", {"type": "UnicodeScripts"})
    part("", "pre_tokenizer", {"type": "Split", "pattern": {"Regex": "[z-a]"}, "behavior": "Isolated", "invert": False})
    part("", "pre_tokenizer", {"type": "Split", "pattern": {"String": "a"}, "behavior": "Sideways", "invert": False})
    part("", "post_processor", {"type": "Own"})
    part("", "decoder", {"type": "Own"})
    part("", "added_tokens", [{"id": 3}])
    part("", "added_tokens", [{"id": -3, "content": "<s>"}])
    part("", "added_tokens", {"id": 3, "content": "<s>"})


def pairs_of_files():  # GPT-2's vocab.json with merges.txt
    for says, vocab, merges in (
        ("", '{"a": 0, "b": 1}', "#version: 0.2\na b\n"),
        ("", '{"a": 0, "b": 1, "ab": 2}', "a b c\n"),
        ("", '{"a": 0, "b": 1, "ab": 2}', "ab\n"),
        ("", '["a"]', "a b\n"),
        ("", "", ""),
        ("", '{"a": 0, "b": 1, "ab": 2}', None),
    ):
        path = files / f"{len(cases)}_pair"
        path.mkdir()
        (path / "vocab.json").write_text(vocab)
        if merges is not None:
            (path / "merges.txt").write_text(merges)
        cases.append((["tokenize", str(path), "text"], 1, says))


# --- texts ---

def texts():
    for says, text in (("UTF-8", b"the \xff cat"), ("UTF-8", b"\xed\xa0\x80"), ("UTF-8", b"\xc0\xaf"), ("UTF-8", b"cut \xe9\x9b"), ("UTF-8", "the cat".encode("utf-16")),
                       ("no token for", "the snowman: ☃".encode())):
        cases.append((["tokenize", "characters.json", write("text", text)], 1, says))
    for says, ids in (("expected an id", "x"), ("expected an id", "-1"), ("", "99999999999999999999"), ("no token has the id", "1000000")):
        cases.append((["tokenize", "characters.json", "--decode", write("ids", ids)], 1, says))
    cases.append((["tokenize", "--train", "bpe", "--vocab", "300", write("text", b"\xff\xfe")], 1, "UTF-8"))
    cases.append((["tokenize", "--train", "wordpiece", "--vocab", "300", write("text", "")], 1, ""))
    for vocab in ("0", "-1", "99999999", "many"):
        cases.append((["tokenize", "--train", "bpe", "--vocab", vocab, "text"], 2, "--vocab"))


# --- readers ---

def reader(says, data, inputs=None):
    """`data.train`, of a model whose row is 6 ids, a length and a label."""
    model = json.loads(pathlib.Path("rows.json").read_text())
    model["inputs"].update(inputs or {})
    model["data"]["train"] = data
    cases.append((["train", write("model.json", json.dumps(model)), "--data", ".", "--save", "never"], 1, says))


def lines(says, content, ending="jsonl", **also):
    name = write(f"rows.{ending}", content)
    op = {"jsonl": "json_lines", "csv": "csv"}[ending]
    reader(says, {"op": op, "file": name, "ids": "t", "size": "t", "label": "y", "padding": "<pad>",
                  "text": {"ids": "characters", "size": "length"}, **also})


def folder_of(says, **named):
    path = files / f"{len(cases)}_folder"
    path.mkdir()
    for name, text in named.items():
        (path / f"{name}.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    reader(says, {"op": "text_folder", "folder": str(path), "ids": "characters", "size": "length", "label": "file", "padding": "<pad>"})


def pair(says, source, target, **also):
    text = {"format": "heddle-model/1", "name": "m", "inputs": {"ids": {"shape": ["N", 6], "dtype": "i32"}, "next": {"shape": ["N", 6], "dtype": "i32"}},
            "nodes": [{"name": "wte", "op": "embedding", "in": "ids", "vocab": 30, "units": 4}, {"name": "logits", "op": "dense", "units": 30}],
            "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "cross_entropy", "in": ["logits", "next"]}, "optimizer": "sgd"},
            "data": {"train": {"op": "parallel_text", "from": write("from", source), "to": write("to", target), "ids": "source", "next": "next", "padding": "<pad>", "begin": "<s>",
                               "end": "</s>", **also}}}
    cases.append((["train", write("model.json", json.dumps(text)), "--data", ".", "--save", "never"], 1, says))


def readers():
    lines("", "")
    lines("", '{"t": 3, "y": 0}')
    lines("", '{"y": 0}')
    lines("", '{"t": "abc"}')
    lines("", '{"t": "abc", "y": 1.5}')
    lines("", '{"t": "\\ud800", "y": 0}')
    lines("UTF-8", b'{"t": "\xff", "y": 0}')
    lines("", '{"t": ["a"], "y": 0}')
    lines("", '{"t": "a", "y": 0}\n{"t": "b", "y": 0')
    lines("", '{"t": "a", "y": 0}', tokenizer="characters.json")  # nothing is made by it
    lines("", '{"t": "a", "y": 0}', begin="<pad>")
    lines("", '{"t": "a", "y": 0}', text={"ids": "words", "size": "length"})
    lines("UTF-8", b"t,y\n\xff,0\n", "csv")
    lines("", "u,y\na,0\n", "csv")
    lines("", 't,y\n"a,0\n', "csv")
    folder_of("no files of text")
    folder_of("no text in the file", a="")
    folder_of("UTF-8", a="x\n", b=b"\xff\n")
    folder_of("a NUL byte", a="x\n", b=b"y\0\n")
    pair("has 1 lines", "a\nb\n", "a\n")
    pair("no text in it", "", "")
    pair("UTF-8", "a\n", b"\xc3\n")
    pair("", "a\n", "a\n", end="</s>", unknown="</s>")


# --- sounds ---

def wav(rate=8000, samples=800, bits=16, promised=None, format=1):
    size = samples * bits // 8
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, format, 1, rate, rate * bits // 8, bits // 8, bits) + b"data" + struct.pack("<I", promised if promised is not None else size)
    return b"RIFF" + struct.pack("<I", len(head) + size) + head + bytes(size)


def sound(says, content):
    path = files / f"{len(cases)}_sounds"
    for name, data in (("one", content), ("two", wav())):
        (path / name).mkdir(parents=True)
        (path / name / "s.wav").write_bytes(data)
    model = json.loads(pathlib.Path("sounds.json").read_text())
    model["data"]["train"]["folder"] = str(path)
    cases.append((["train", write("model.json", json.dumps(model)), "--data", ".", "--save", "never"], 1, says))


def sounds():
    sound("44100", wav(rate=44100))
    sound("the file is empty", b"")
    sound("ends before its samples", wav()[:30])
    sound("the header says that", wav(promised=1 << 30))
    sound("holds no samples", wav(samples=0))
    sound("", wav(format=77))
    sound("", b"RIFF" + bytes(100))
    sound("nan", b"".join([wav(bits=32, format=3, samples=4)[:-4], struct.pack("<f", float("nan"))]))


# --- prompts ---

def prompts():
    run = ["generate", "writer.json", "--weights", "w"]
    for says, prompt in (("the model sees 16", "the bird " * 4), ("no token for", "THE"), ("", "a\x01"), ("", "")):
        cases.append(([*run, "--prompt", prompt], 1 if prompt else (1, 2), says))
    for says, text in (("", '{"prompt": 3}'), ("", '{"text": "a"}'), ("", "a"), ("UTF-8", b'{"prompt": "\xff"}'), ("", "[]"), ("", '{"prompt": "a"}\n{"prompt": "☃"}')):
        cases.append(([*run, "--in", write("prompts.jsonl", text)], 1, says))
    for option, values in {"--tokens": ("0", "-1", "x"), "--temperature": ("-1", "nan"), "--top-k": ("0", "-2"), "--top-p": ("0", "1.5", "nan"), "--beams": ("0", "1000000"), "--samples": ("0", "-1"),
                           "--repetition-penalty": ("0", "-1"), "--batch": ("0",)}.items():
        for value in values:
            cases.append(([*run, "--prompt", "a", option, value], 2, option))
    cases.append((["generate", "writer.json", "--weights", write("weights", b"\0" * 100), "--prompt", "a"], 1, ""))
    cases.append((["generate", "rows.json", "--weights", "w", "--prompt", "a"], 1, ""))


# --- models ---

X = {"x": {"shape": ["N", 6, 4]}, "y": {"shape": ["N"], "dtype": "i32"}}


def model(says, *nodes, inputs=None, blocks=None):
    text = {"format": "heddle-model/1", "name": "m", "inputs": {**X, **(inputs or {})}, "nodes": [*nodes, {"name": "logits", "op": "dense", "units": 3}],
            "train": {"batch": {"N": 2}, "steps": 1, "loss": {"op": "cross_entropy", "in": ["logits", "y"]}, "optimizer": "sgd"}, "outputs": {"logits": "logits"}}
    if blocks:
        text["blocks"] = blocks
    cases.append((["check", write("model.json", json.dumps(text, indent=1))], 1, says))


def cell(says, nodes, scan, inputs=("x", "h")):
    use = {"name": "s", "op": "scan", "block": "cell", "in": {"x": "x"}, "slice": ["x"], "carry": {"h": ["N", 4]}, "out": ["last", "all"], **scan}
    use = {key: value for key, value in use.items() if value != {}}
    model(says, use, {"name": "of", "op": "dense", "in": "last", "units": 3},
          blocks={"cell": {"inputs": list(inputs), "nodes": nodes, "output": nodes[-1]["name"]}})


def models():
    add = {"name": "o", "op": "add", "in": ["x", "h"]}
    cell("becomes f32[N,5]", [{"name": "o", "op": "dense", "in": "x", "units": 5}], {})  # a carry that grows
    cell("becomes i32[N,4]", [{"name": "k", "op": "add", "in": ["x", "h"]}, {"name": "o", "op": "cast", "dtype": "i32"}], {})  # that changes its type
    cell("becomes f32[N,2,2]", [add, {"name": "e", "op": "reshape", "shape": ["N", 2, 2]}], {})
    cell("steps is between 1 and", [add], {"slice": [], "count": 0})
    cell("steps is between 1 and", [add], {"slice": [], "count": 1 << 40})
    cell("follows from what is sliced", [add], {"count": 7})  # of 6 slices
    alone = {"name": "o", "op": "tanh", "in": "h"}
    cell("", [alone], {"in": {}, "slice": [], "count": "N"}, ("h",))  # that depends on the batch
    cell("", [alone], {"in": {}, "slice": []}, ("h",))  # how many steps?
    cell("has no input 'z'", [add], {"slice": ["z"]})
    cell("", [add], {"carry": {}})
    cell("do not broadcast", [add], {"carry": {"h": ["N", 3]}})
    cell("there is no block 'sell'", [add], {"block": "sell"})
    cell("expected true or false", [add], {"reverse": 1})
    model("", {"name": "r", "op": "lstm", "out": ["all", "last", "cell"], "in": "x", "units": 1 << 40})
    model("", {"name": "r", "op": "lstm", "out": ["all", "last", "cell"], "in": "x", "units": 4, "layers": 100000})
    model("", {"name": "r", "op": "gru", "out": ["all", "last"], "in": {"x": "x", "size": "x"}, "units": 4})
    model("", {"name": "r", "op": "gru", "out": ["all", "last"], "in": {"x": "x", "h0": "x"}, "units": 4})
    model("", {"name": "r", "op": "rnn", "out": ["all", "last"], "in": "y", "units": 4})
    see = {"name": "a", "op": "attention", "heads": 2}
    model("expected [N], found [N,6,4]", {**see, "in": {"q": "x", "k": "x", "v": "x", "lengths": "x"}})
    for shape in (["N", 5], ["N", 6, 6]):  # masks of other shapes
        model("expected [N,6]", {**see, "in": {"q": "x", "k": "x", "v": "x", "key_mask": "m"}}, inputs={"m": {"shape": shape, "dtype": "bool"}})
    model("expected the last axes", {**see, "in": {"q": "x", "k": "x", "v": "x", "bias": "b"}}, inputs={"b": {"shape": ["N", 3, 6, 6]}})
    model("3 heads do not divide", {**see, "in": {"q": "x", "k": "x", "v": "x"}, "heads": 3})
    model("must be at least 1", {**see, "in": {"q": "x", "k": "x", "v": "x"}, "window": 0})
    model("must lie in [0, 1)", {**see, "in": {"q": "x", "k": "x", "v": "x"}, "dropout": 1})
    model("", {"name": "e", "op": "embedding", "in": "y", "vocab": 1 << 50, "units": 1 << 20})


def check(case):
    command, code, says = case
    codes = code if isinstance(code, tuple) else (code,)
    pathlib.Path("never").unlink(missing_ok=True)
    out, err = pathlib.Path("stdout"), pathlib.Path("stderr")
    child = os.fork()
    if child == 0:
        for number, name in ((0, os.devnull), (1, out), (2, err)):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        os.execvp("heddle", ["heddle", *command])
    _, status, used = os.wait4(child, 0)
    exit_code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    said = err.read_text(errors="replace")
    errors = [line for line in said.splitlines() if line.startswith("error: ") or ": error: " in line]
    good = exit_code in codes and len(errors) == 1 and says in said and not any(w in said for w in ("Sanitizer", "runtime error:", "internal error"))
    good = good and not pathlib.Path("never").exists() and (not plain or (seconds <= SECONDS and used.ru_maxrss <= KILOBYTES))
    if not good:
        print(f"{command}: exit {exit_code}, expected {code} and '{says}', {seconds:.2f} s, {used.ru_maxrss >> 10} MB:\n{said[:900]}")
    if os.environ.get("SHOW"):
        print("SHOW", command, said)
    return good


files.mkdir()
pathlib.Path("text").write_text("abab\n")
for make in (tokenizers, pairs_of_files, texts, readers, sounds, prompts, models):
    make()
bad = [case for case in cases if not check(case)]
print(f"{len(cases)} hostile inputs, {len(bad)} not refused as they should be")
sys.exit(1 if bad else 0)
