"""Reads the StableHLO text of a case: one operation a line, types, constants."""
import re
import struct
from dataclasses import dataclass

from .tensor import DTYPES, OutOfScope, Tensor, elements, tensor

NAMES = {"f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "i64": "i64", "i32": "i32", "i16": "i16", "i8": "i8",
         "ui64": "u64", "ui32": "u32", "ui16": "u16", "ui8": "u8", "i1": "bool"}


@dataclass
class Operation:
    results: list   # names without '%'
    op: str         # "add"
    text: str       # what stands between the operation's name and its type
    operands: list
    types: list     # of the results
    region: list    # operations of its region


def parse_type(text):
    *dims, name = text[len("tensor<"):-1].split("x")
    if name not in NAMES:
        raise OutOfScope("dtype " + name)
    return NAMES[name], tuple(int(d) for d in dims)


def split_type(line):
    """The text before the last ' : ' and the types of the results after it."""
    text, _, types = line.rpartition(" : ")
    result = types.rpartition("->")[2]
    return text, re.findall(r"tensor<[^>]*>", result)


def names(text):
    return re.findall(r"%([\w#]+)", text)


def parse(body):
    """The operations in order; lines of a region belong to the operation that opens it."""
    operations, open_operation = [], None
    for line in (l.strip() for l in body.splitlines()):
        if open_operation and not line.startswith("})"):
            open_operation[1].append(line)
            continue
        if open_operation:
            line, region = open_operation[0] + line[2:], open_operation[1]
            open_operation = None
        elif line.endswith("({"):
            open_operation = (line[:-len(", ({")] if line.endswith(", ({") else line[:-len("({")], [])
            continue
        else:
            region = []
        match = re.match(r'(?:(%[\w, %:]+) = )?"?(?:stablehlo\.|chlo\.|func\.)?(\w+)"?(.*)', line)
        if not match or match.group(2) in ("return", "custom_call"):
            continue
        text, types = split_type(match.group(3))
        operations.append(Operation(expand(match.group(1) or ""), match.group(2), text, names(text), types, region))
    return operations


def expand(results):
    """%0:2 -> 0#0, 0#1; %a, %b -> a, b"""
    found = []
    for name in filter(None, (r.strip().lstrip("%") for r in results.split(","))):
        base, _, count = name.partition(":")
        found += ["%s#%d" % (base, i) for i in range(int(count))] if count else [base]
    return found


def number(word, dtype):
    code, width, _ = DTYPES[dtype]
    if word in ("true", "false"):
        return word == "true"
    if not word.startswith("0x"):
        return float(word) if dtype in ("f64", "f32", "f16", "bf16") else int(word)
    raw = int(word, 16)
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", raw << 16))[0]
    return struct.unpack("<" + code, raw.to_bytes(width, "little"))[0]


def constant(text, type_text):
    dtype, shape = parse_type(type_text)
    inside = re.match(r"\s*dense<(.*)>$", text).group(1)
    if inside.startswith('"0x'):
        return Tensor(dtype, shape, bytes.fromhex(inside[3:-1]))
    words = re.findall(r"[^\s,\[\]]+", inside)
    numbers = [number(w, dtype) for w in words]
    return tensor(dtype, shape, numbers * elements(shape) if len(numbers) == 1 else numbers)


def integers(text, key):
    """key = [1, 2] or key = array<i64: 1, 2>; None when absent."""
    match = re.search(key + r" = (?:\[([^\]]*)\]|array<i64(?:: )?([^>]*)>)", text)
    return [int(v) for v in re.findall(r"-?\d+", match.group(1) or match.group(2) or "")] if match else None
