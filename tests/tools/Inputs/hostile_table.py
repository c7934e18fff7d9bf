"""What no honest program wrote, in a table: damaged checkpoints, rows for predict, words of the command line.

    hostile_table.py FOLDER

Each must end within its time, with exit code 1 (a file) or 2 (a word), a message that begins with `error:` and names the file or the
word, no sanitizer's report, and nothing written. FOLDER has m.json (tests/tools/Inputs/predict.json), w and run, which it was trained to.
"""
import gzip
import os
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

folder = pathlib.Path(sys.argv[1])
os.chdir(folder)
(checkpoint,) = pathlib.Path("run").glob("checkpoint-*.safetensors")
whole = checkpoint.read_bytes()
size = int.from_bytes(whole[:8], "little")  # of the header
weights = pathlib.Path("w").read_bytes()
cases = []  # (words, exit code, what the message names)


def flipped(at, bit=0):
    data = bytearray(whole)
    data[at] ^= 1 << bit
    return bytes(data)


def with_header(change):
    header, data = safetensors_file.split(whole)
    change(header)
    return safetensors_file.join(header, data)


def damaged(name, content):
    run = pathlib.Path("hostile") / f"run_{len(cases)}_{name}"
    shutil.copytree("run", run)
    target = run / checkpoint.name
    target.unlink()
    content(target) if callable(content) else target.write_bytes(content)
    cases.append((["train", "m.json", "--run", str(run), "--resume"], 1, checkpoint.name))


def rows(name, content, *words, code=1, names=None):
    path = pathlib.Path("hostile") / name
    content(path) if callable(content) else path.write_bytes(content if isinstance(content, bytes) else content.encode())
    cases.append((["predict", "m.json", "--weights", "w", "--in", str(path), "--out", "never.csv", *words], code, names or name))


def word(code, names, *words):
    cases.append((list(words), code, names))


def npy(header, data=b"", version=b"\x01\0"):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def checkpoints():
    for at in (0, 1, 7, 8, 9, 8 + size // 2, 8 + size - 1, 8 + size, 8 + size + 1, len(whole) - 17, len(whole) - 16, len(whole) - 1):
        damaged("cut", whole[:at])
    for at in (0, 2, 5, 7, 8, 20, 8 + size // 3, 8 + size - 2, 8 + size, (8 + size + len(whole)) // 2, len(whole) - 17, len(whole) - 9, len(whole) - 1):
        damaged("bit", flipped(at, at % 8))
    damaged("longer", whole + b"\0")
    damaged("twice", whole + whole)
    damaged("reversed", whole[::-1])
    damaged("zeros", bytes(len(whole)))
    damaged("weights", weights)
    damaged("model", pathlib.Path("m.json").read_bytes())
    damaged("zip", b"PK\x03\x04" + bytes(100))
    damaged("pickle", b"\x80\x02}q\0." + bytes(60))
    damaged("newer", with_header(lambda h: h["__metadata__"].update({"heddle.checkpoint": "2"})))
    damaged("step", with_header(lambda h: h["__metadata__"].update({"heddle.step": "-1"})))
    damaged("unsealed", with_header(lambda h: h.pop("heddle/checksum")))
    damaged("bare", with_header(lambda h: h.pop("__metadata__")))
    damaged("hole", with_header(lambda h: h["heddle/checksum"].update({"data_offsets": [0, 16]})))
    damaged("huge", struct.pack("<Q", 1 << 62) + whole[8:])
    damaged("deep", struct.pack("<Q", 100000) + b"[" * 100000)
    damaged("folder", lambda p: p.mkdir())
    damaged("pipe", lambda p: os.mkfifo(p))
    damaged("loop", lambda p: p.symlink_to(p.name))
    damaged("device", lambda p: p.symlink_to("/dev/zero"))


def arrays():
    good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    data = struct.pack("4f", *range(4))
    for i, header in enumerate((good.replace("(2, 2)", "(-2, 2)"), good.replace("(2, 2)", "(2, 3)"), good.replace("(2, 2)", "(9223372036854775807, 2)"),
                                good.replace("(2, 2)", "()"), good.replace("(2, 2)", "4"), good.replace("<f4", "|O"), good.replace("<f4", "<U8"),
                                good.replace("<f4", "<c8"), good.replace("<f4", "<f9"), good.replace("'shape'", "'shap'"), "{}", "", "__import__('os')", "{" * 100)):
        rows(f"header{i}.npy", npy(header, data))
    rows("cut.npy", npy(good, data[:-1]))
    rows("longer.npy", npy(good, data + b"\0"))
    rows("version.npy", npy(good, data, b"\x09\0"))
    rows("empty.npy", b"")
    rows("magic.npy", b"\x93NUMPX" + npy(good, data)[6:])
    rows("folder.npy", lambda p: p.mkdir(), code=2, names="pictures")  # a folder of pictures, which the input does not take
    rows("pipe.npy", lambda p: os.mkfifo(p))
    rows("x-idx", b"\0\0\x0d\x02" + struct.pack(">II", 2, 3) + bytes(24))
    rows("cut-idx", b"\0\0\x0d\x02" + struct.pack(">II", 2, 2) + bytes(15))
    rows("huge-idx", b"\0\0\x0d\x02" + struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF))
    rows("type-idx", b"\0\0\x07\x02" + struct.pack(">II", 2, 2) + bytes(16))
    rows("bomb-idx.gz", gzip.compress(b"\0\0\x0d\x02" + struct.pack(">II", 2, 2) + bytes(1 << 24)))
    rows("cut-idx.gz", gzip.compress(b"\0\0\x0d\x02" + struct.pack(">II", 2, 2) + bytes(16))[:-12])


def texts():
    for i, line in enumerate(('{"x": [1, 2]', '{"x": [1, 2]} {}', '{"x": [1]}', '{"x": [1, 2, 3]}', '{"x": "a"}', '{"x": null}', '{"x": {}}', '{"y": [1, 2]}', '[1, 2]', '1',
                              '{"x": [1, NaN]}', '{"x": [1, 1e999]}', '{"x": [1, 01]}', '{"x": [1, 2], "x": [1, 2]}', '{"x": [[1, 2], [3, 4]]}', '\0', '{"x": [1, "\\ud800"]}',
                              '{"x": ' + "[" * 100000, '{"' + "k" * 1000000, '{"x": [1, "yes"]}', "x,y\n1,2")):
        rows(f"line{i}.jsonl", line)
    for i, table in enumerate(("a,b\n1\n", "a,b\n1,2,3\n", "a,b\n1,x\n", "a,b\n1,1e999\n", "a,c\n1,2\n", "a,a\n1,2\n", 'a,b\n"1,2\n', "a,b\n1,\n", "\0\0\0\0\n", "", "a,b\n1,0x10\n", "a,b\n1,2 3\n")):
        rows(f"table{i}.csv", table)
    rows("utf16.csv", "a,b\n1,2\n".encode("utf-16"))
    rows("cut.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100)[:-10])
    rows("p.png", b"\x89PNG\r\n\x1a\n" + bytes(40), code=2, names="pictures")


def words():
    run = ["train", "m.json"]
    for option, values in {"--epochs": ("0", "-1", "1.5", "x", "1e30"), "--lr": ("-1", "nan", "x"), "--batch": ("0", "-3", "x"), "--seed": ("-1", "x", "99999999999999999999")}.items():
        for value in values:
            word(1, option[2:], *run, option, value)
    for option, values in {"--repeat": ("0", "-1", "5000", "x"), "--threads": ("0", "1025", "-2", "many"), "--max-time": ("-1", "1 year", "x", "", "1e308 minutes"), "--max-memory": ("0", "-1", "x"),
                           "--step-timeout": ("-1s", "nan", "soon"), "--device": ("cuda:-1", "cuda:x", "tpu"), "--checkpoint-every": ("0 steps", "5", "-1 epochs", "x minutes")}.items():
        for value in values:
            word(2, option, *run, option, value, *(["--run", "never"] if option == "--checkpoint-every" else []))
    for option in ("--weights", "--save", "--run"):
        word(2, "-", *run, option, "-")
    word(2, "--weights-prefix", *run, "--weights-prefix", "m.")
    word(2, "--resume", *run, "--resume")
    word(2, "--log", *run, "--run", "never", "--log", "never")
    word(2, "--json", *run, "--json", "--log", "-")
    word(2, "--unknown", *run, "--unknown")
    word(2, "trian", "trian", "m.json")
    for option, value in (("--top", "0"), ("--top", "-1"), ("--top", "x"), ("--format", "xml"), ("--in-format", "xls"), ("--output", "oot")):
        word(2, option, "predict", "m.json", "--weights", "w", "--in", "good.csv", option, value)


def check(case):
    command, code, names = case
    codes = code if isinstance(code, tuple) else (code,)
    done = subprocess.run(["heddle", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    said = done.stdout + done.stderr
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    good = done.returncode in codes and errors and names in done.stderr and not any(w in said for w in ("Sanitizer", "runtime error:", "internal error"))
    good = good and not any(pathlib.Path(p).exists() for p in ("never", "never.csv", "-"))
    if not good:
        print(f"{command}: exit {done.returncode}, expected {code} and '{names}':\n{said[:600]}")
    return good


pathlib.Path("hostile").mkdir()
pathlib.Path("good.csv").write_text("a,b\n1,2\n")
for part in (checkpoints, arrays, texts, words):
    part()
bad = [case for case in cases if not check(case)]
print(f"{len(cases)} hostile inputs, {len(bad)} not refused as they should be")
sys.exit(1 if bad else 0)
