#!/usr/bin/env python3
"""Writes arrays of f32 with something wrong: three.npy (three columns), nan.npy (in row 70), short.npy (cut off)."""
import struct
import sys


def npy(dims, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {dims}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"{len(values)}f", *values)


files = {"three": npy((2, 3), range(6)), "nan": npy((80, 2), [float("nan") if i == 141 else i for i in range(160)]),
         "short": npy((4, 2), range(8))[:-4]}
for name, content in files.items():
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as f:
        f.write(content)
