"""Rows whose classes are sorted, as NumPy's files: 200 rows x.npy, label.npy (0 0 .. 9 9), shuffled.npy (the same labels in turn), several.npy."""
import pathlib
import struct
import sys

ROWS = 200


def write(name, code, shape, values):
    header = str({"descr": code, "fortran_order": False, "shape": shape})
    header += " " * (117 - len(header)) + "\n"
    packed = struct.pack(f"<{len(values)}{'f' if code == '<f4' else 'i'}", *values)
    (pathlib.Path(sys.argv[1]) / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + packed)


write("x.npy", "<f4", (ROWS, 2), [((i * 7) % 13 - 6) / 6 for i in range(ROWS * 2)])
write("label.npy", "<i4", (ROWS,), [i // 20 for i in range(ROWS)])
write("shuffled.npy", "<i4", (ROWS,), [i % 10 for i in range(ROWS)])
# Rows of three labels: the row's class, and 0 beside it.
write("several_x.npy", "<f4", (ROWS, 3, 2), [((i * 7) % 13 - 6) / 6 for i in range(ROWS * 6)])
write("several.npy", "<i4", (ROWS, 3), [label for i in range(ROWS) for label in (i // 20, 0, i // 20)])
