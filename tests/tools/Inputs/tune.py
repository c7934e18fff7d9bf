"""Tables of heddle tune: tune.py check TABLE MODEL | turn TABLE OTHER | rows NPY | hostile HEDDLE TABLE FOLDER"""
import json
import re
import struct
import subprocess
import sys

what, arguments = sys.argv[1], sys.argv[2:]


def check(path, model):
    table = json.load(open(path))
    assert table["format"] == "heddle-choices/1" and table["model"] == model and table["kernels"], table
    for kernel in table["kernels"]:
        seconds = kernel["seconds"]
        assert len(seconds) >= 2 and all(s > 0 for s in seconds.values()), kernel
        assert kernel["default"] in seconds, kernel
        # What is chosen is the default, or faster by 3 % at least.
        assert kernel["chosen"] == kernel["default"] or seconds[kernel["chosen"]] <= 0.97 * seconds[kernel["default"]], kernel
    step = table["step_seconds"]
    assert 0 < step["after"] <= step["before"], step


def turn(path, other):
    """The same table, with generated text where it was measured: choices that do not depend on the machine's time."""
    text, turned = open(path).read(), 0
    for chosen in re.findall(r'"chosen": "[^"]*"', text):
        turned += 1
    text = re.sub(r'"chosen": "onednn"', '"chosen": "generated text"', text)
    assert turned and '"generated text"' in text
    open(other, "w").write(text)


def rows(path):
    """Sixteen pictures of 28 x 28 x 1 in f32."""
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (16, 28, 28, 1), }".ljust(117) + "\n"
    numbers = [(i % 7) / 7 for i in range(16 * 784)]
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"{len(numbers)}f", *numbers))


def hostile(heddle, path, folder):
    """Each of these is refused with one message, whatever was cut or turned."""
    text = open(path).read()
    kinds = [text[: len(text) * part // 8] for part in range(8)]
    kinds += [text.replace('"seconds": {"', '"seconds": {"x": 1, "', 1), re.sub(r": [0-9.e-]+}", ": nan}", text, count=1)]
    kinds += [re.sub(r": [0-9.e-]+}", ": 1e999}", text, count=1), re.sub(r": [0-9.e-]+}", ": -1}", text, count=1)]
    kinds += [re.sub(r'"kernels": \[', '"kernels": [7, ', text), text.replace('"libraries": []', '"libraries": ["mkl"]')]
    kinds += ["[" * 100000, "\x00\xff" * 10, text + "}"]
    for number, kind in enumerate(kinds):
        name = f"{folder}/hostile.json"
        open(name, "w", encoding="latin-1").write(kind)
        done = subprocess.run([heddle, "bench", "tiny_mlp", "--device=host", "--choices", name], capture_output=True, text=True,
                              errors="replace")
        assert done.returncode in (1, 4), (number, done.returncode, done.stderr)
        assert done.stderr.count("error:") == 1, (number, done.stderr)
    print(len(kinds), "refused")


{"check": check, "rows": rows, "turn": turn, "hostile": hostile}[what](*arguments)
