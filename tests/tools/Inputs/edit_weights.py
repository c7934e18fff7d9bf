"""A file of weights with something else in it.

    edit_weights.py FILE OUT EDIT...    set:NAME:INDEX:VALUE  copy:NAME:NEW  rename:NAME:NEW  drop:NAME  integers:NAME
                                        transpose:NAME  doubles:NAME:VALUE
"""
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from safetensors_file import Tensor, read, write  # noqa: E402


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def edit(tensors, kind, name, *rest):
    t = tensors[name]
    values = t.values()
    if kind == "set":
        values[int(rest[0])] = float(rest[1])
        t.data = floats(values)
    elif kind == "copy":
        tensors[rest[0]] = Tensor(t.dtype, t.shape, t.data)
    elif kind == "rename":
        tensors[rest[0]] = tensors.pop(name)
    elif kind == "drop":
        del tensors[name]
    elif kind == "integers":
        tensors[name] = Tensor("I32", t.shape, struct.pack(f"<{len(values)}i", *map(int, values)))
    elif kind == "doubles":
        tensors[name] = Tensor("F64", t.shape, struct.pack("<d", float(rest[0])) * len(values))
    elif kind == "transpose":
        rows, columns = t.shape
        tensors[name] = Tensor(t.dtype, [columns, rows], floats([values[r * columns + c] for c in range(columns) for r in range(rows)]))
    else:
        raise SystemExit(f"no edit {kind}")


path, out, *edits = sys.argv[1:]
_, tensors = read(path)
for text in edits:
    edit(tensors, *text.split(":"))
write(out, tensors)
