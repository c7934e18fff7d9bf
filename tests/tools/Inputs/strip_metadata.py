"""Weights without what they say of themselves: python3 strip_metadata.py FROM TO (safetensors)"""
import json
import struct
import sys

content = open(sys.argv[1], "rb").read()
(size,) = struct.unpack("<Q", content[:8])
header = json.loads(content[8 : 8 + size])
header.pop("__metadata__", None)
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + content[8 + size :])
