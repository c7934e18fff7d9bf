"""Reads ELF files of CUDA machine code: machine, architecture, and the kernels that have code and a symbol.

    read_cubin.py FILE... -> "FILE: cuda sm_90, 3 kernels: k_add k_mul k_relu"
"""
import struct
import sys


def text(table, offset):
    return table[offset:table.index(b"\0", offset)].decode()


def read(path):
    data = open(path, "rb").read()
    if data[:4] != b"\x7fELF" or data[4] != 2:
        sys.exit(f"{path}: no 64-bit ELF file")
    machine, = struct.unpack_from("<H", data, 18)
    flags, = struct.unpack_from("<I", data, 48)
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    if machine != 190:
        sys.exit(f"{path}: machine {machine}, not 190 (CUDA)")
    if at + size * count > len(data):
        sys.exit(f"{path}: cut off")
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
    body = [data[s[4]:s[4] + s[5]] if s[1] != 8 else b"" for s in sections]
    code = {text(body[names], s[0]) for s in sections if s[1] == 1 and s[5] > 0}
    kernels = []
    for s, table in zip(sections, body):
        if s[1] != 2:  # a symbol table
            continue
        for i in range(0, len(table), 24):
            name, info, _, _, _, length = struct.unpack_from("<IBBHQQ", table, i)
            symbol = text(body[s[6]], name)
            if info & 15 == 2 and info >> 4 == 1 and length > 0 and ".text." + symbol in code:
                kernels.append(symbol)
    # The architecture is in the second byte of the flags of newer files, in the first of older ones.
    arch = flags >> 8 & 255 if data[8] >= 8 else flags & 255
    print(f"{path}: cuda sm_{arch}, {len(kernels)} kernels: {' '.join(sorted(kernels))}")


for file in sys.argv[1:]:
    read(file)
