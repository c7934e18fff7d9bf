"""Weights files of buffers.json.

    buffers.py show FILE BUFFER       prints the shape and the numbers of one
    buffers.py strip FILE OUT         the file without its buffers, as of a program that knows of none
    buffers.py reset FILE OUT         the file with the buffers that a training starts from
"""
import json
import struct
import sys

FORMATS = {"F32": "f", "I64": "q"}
STARTS = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}


def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {name: (entry, data[8 + size:][slice(*entry["data_offsets"])]) for name, entry in header.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, (entry, data) in tensors.items():
        header[name] = {**entry, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + body)


def numbers(entry, data):
    return struct.unpack(f"<{len(data) // struct.calcsize('<' + FORMATS[entry['dtype']])}{FORMATS[entry['dtype']]}", data)


def main():
    tensors = read(sys.argv[2])
    if sys.argv[1] == "show":
        entry, data = tensors[sys.argv[3]]
        print(entry["dtype"], entry["shape"], *numbers(entry, data))
        return
    for name in list(tensors):
        start = STARTS.get(name.split(".")[-1])
        if start is None:
            continue
        entry, data = tensors.pop(name)
        if sys.argv[1] == "reset":
            count = len(numbers(entry, data))
            tensors[name] = (entry, struct.pack(f"<{count}{FORMATS[entry['dtype']]}", *[start] * count))
    write(sys.argv[3], tensors)


if __name__ == "__main__":
    main()
