"""A mapped file that becomes shorter while it is read: python3 shorten.py HEDDLE FOLDER

Trains on an array of many pages and cuts the file once the first epoch is told. The run ends by itself with its message.
"""
import pathlib
import struct
import subprocess
import sys
import threading

heddle, folder = sys.argv[1], pathlib.Path(sys.argv[2])
ROWS, WIDTH = 4096, 256

MODEL = """{"format": "heddle-model/1", "name": "shortened",
"inputs": {"x": {"shape": ["N", %d]}},
"nodes": [{"name": "y", "op": "dense", "in": "x", "units": 1}, {"name": "l", "op": "mean"}],
"outputs": {"y": "y"},
"train": {"batch": {"N": 64}, "epochs": 1000000, "loss": {"op": "value", "in": "l"}, "optimizer": {"op": "sgd", "lr": 1e-9}},
"data": {"train": {"op": "npy", "x": "x.npy"}}}
"""


def npy(shape, elements):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + elements


def main():
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(MODEL % WIDTH)
    (folder / "x.npy").write_bytes(npy((ROWS, WIDTH), bytes(4 * ROWS * WIDTH)))
    process = subprocess.Popen([heddle, "train", str(folder / "model.json")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    limit = threading.Timer(60, process.kill)
    limit.start()
    for line in process.stderr:  # where lines of epochs go
        if line.startswith(b"epoch"):
            break
    with open(folder / "x.npy", "r+b") as file:
        file.truncate(4096)
    error = process.stderr.read()
    process.wait()
    limit.cancel()
    print("exit code %d" % process.returncode)
    print(*(line for line in error.decode().splitlines() if not line.startswith("epoch")), sep="\n")


main()
