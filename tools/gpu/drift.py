"""How long a training can be compared at all: rounding alone makes some drift apart within a few steps.

usage: drift.py nudge SEED WEIGHTS OUT      the same safetensors file with other last three bits of every float: what sums in another order are apart
       drift.py steps A.jsonl B.jsonl...    how many of A's first losses all others agree with, a tenth of rows.py's limit apart at most
"""
import json
import random
import struct
import sys

import rows


def nudge(seed, source, target):
    content = bytearray(open(source, "rb").read())
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    draw = random.Random(int(seed))
    for name in sorted(header):
        if name == "__metadata__" or header[name]["dtype"] != "F32":
            continue
        first, end = (begin + at for at in header[name]["data_offsets"])
        words = struct.unpack_from(f"<{(end - first) // 4}I", content, first)
        struct.pack_into(f"<{len(words)}I", content, first, *(word ^ draw.getrandbits(3) for word in words))
    open(target, "wb").write(content)


def steps(first, *others):
    expected = rows.losses_of(first)[:rows.COMPARED]
    limit = rows.MOST / 10 * max(map(abs, expected))
    together = len(expected)
    for other in others:
        pairs = zip(expected, rows.losses_of(other))
        together = min(together, next((i for i, (x, y) in enumerate(pairs) if not abs(x - y) <= limit), together))
    print(together)


if __name__ == "__main__":
    {f.__name__: f for f in (nudge, steps)}[sys.argv[1]](*sys.argv[2:])
