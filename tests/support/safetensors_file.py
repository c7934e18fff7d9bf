"""Files of weights and checkpoints as scripts of the tests read and write them, with Python's standard library alone.

    safetensors_file.py metadata FILE     prints what the file says of itself
"""
import json
import pathlib
import struct
import sys
from dataclasses import dataclass

# dtype of the header -> code of the module struct; bf16 has none.
CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U64": "Q", "U32": "I", "U16": "H", "U8": "B", "BOOL": "?"}
CHECKSUM = "heddle/checksum"  # the tensor that seals a checkpoint


@dataclass
class Tensor:
    dtype: str  # as the header has it: F32
    shape: list
    data: bytes

    def values(self):
        """All elements, row by row."""
        code = "<" + CODES[self.dtype]
        return [value for value, in struct.iter_unpack(code, self.data)]


def split(content):
    """The header of a file's bytes, and the data behind it, in which its offsets count."""
    end = 8 + int.from_bytes(content[:8], "little")
    return json.loads(content[8:end]), content[end:]


def join(header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def read(path):
    """The metadata, and the tensors by their names in the order of the header."""
    header, data = split(pathlib.Path(path).read_bytes())
    metadata = header.pop("__metadata__", {})
    return metadata, {name: Tensor(t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, t in tensors.items():
        header[name] = {"dtype": t.dtype, "shape": t.shape, "data_offsets": [len(data), len(data) + len(t.data)]}
        data += t.data
    pathlib.Path(path).write_bytes(join(header, data))


if __name__ == "__main__":
    assert sys.argv[1] == "metadata", sys.argv
    print(read(sys.argv[2])[0])
