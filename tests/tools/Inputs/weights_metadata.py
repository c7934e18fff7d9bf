"""Asserts that two files of weights say the same under a key of their metadata: weights_metadata.py FILE FILE KEY"""
import json
import struct
import sys


def metadata(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size))["__metadata__"]


one, two = (metadata(path)[sys.argv[3]] for path in sys.argv[1:3])
assert one == two and "mean" in one, (one, two)
