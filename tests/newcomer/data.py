"""Rows for every reader, written by their formats' definitions: NumPy is not needed."""
import io
import json
import pathlib
import random
import struct
import zipfile
import zlib

ROWS = 32
CODES = {"f32": ("<f4", "f"), "i32": ("<i4", "i"), "u8": ("|u1", "B")}


def npy(dtype, shape, values):
    descr, code = CODES[dtype]
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<%d%s" % (len(values), code), *values)


def npz(arrays):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
    return buffer.getvalue()


def columns(inputs):
    """An npz archive of random rows: {name: (shape, dtype, lowest, highest)}."""
    pick, arrays = random.Random(8), {}
    for name, (shape, dtype, low, high) in inputs.items():
        count = ROWS
        for size in shape:
            count *= size
        draw = pick.uniform if dtype == "f32" else pick.randint
        arrays[name] = npy(dtype, [ROWS, *shape], [draw(low, high) for _ in range(count)])
    return npz(arrays)


def png(width, height, pixel):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + pixel * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def wav(samples, rate=8000):
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I%dh" % len(samples), 2 * len(samples), *samples)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def idx(dims, content):
    return bytes([0, 0, 8, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + content


def write(folder, inputs):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pick = random.Random(9)
    pixels = [pick.randrange(3) for _ in range(ROWS * 12)]
    labels = [i % 3 for i in range(ROWS)]
    files = {
        "columns.npz": columns(inputs), "picture.npy": npy("u8", [ROWS, 12], pixels), "grid.npy": npy("u8", [ROWS, 4, 3], pixels),
        "colours.npy": npy("u8", [ROWS, 2, 2, 3], pixels),
        "label.npy": npy("u8", [ROWS], labels),
        "picture.idx": idx([ROWS, 12], bytes(pixels)), "label.idx": idx([ROWS], bytes(labels)),
        "all.npz": npz({"picture": npy("u8", [ROWS, 12], pixels), "label": npy("u8", [ROWS], labels)}),
        "cifar.bin": b"".join(bytes([label]) + pick.randbytes(3072) for label in labels),
    }
    table = [",".join(["p%d" % i for i in range(12)] + ["label"])]
    table += [",".join(map(str, pixels[12 * i:12 * i + 12] + [labels[i]])) for i in range(ROWS)]
    files["table.csv"] = ("\n".join(table) + "\n").encode()
    rows = [" ".join([str(labels[i])] + ["%d:%d" % (k + 1, v) for k, v in enumerate(pixels[12 * i:12 * i + 12]) if v]) for i in range(ROWS)]
    files["rows.libsvm"] = ("\n".join(rows) + "\n").encode()
    lines = [{"pixels": pixels[12 * i:12 * i + 12], "label": labels[i]} for i in range(ROWS)]
    files["rows.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    words = ["".join(pick.choice("abcdefgh") for _ in range(pick.randrange(3, 9))) for _ in range(ROWS)]
    files["from.txt"] = "".join(word + "\n" for word in words).encode()
    files["to.txt"] = "".join(word[::-1] + "\n" for word in words).encode()
    (folder / "texts").mkdir(exist_ok=True)
    for label in range(3):
        (folder / "texts" / ("class%d.txt" % label)).write_text("".join(word + "\n" for word in words[label::3]))
    for name, content in files.items():
        (folder / name).write_bytes(content)
    for label in range(3):
        (folder / "pictures" / ("class%d" % label)).mkdir(parents=True, exist_ok=True)
        (folder / "sounds" / ("class%d" % label)).mkdir(parents=True, exist_ok=True)
        for i in range(8):
            (folder / "pictures" / ("class%d" % label) / ("%d.png" % i)).write_bytes(png(4, 4, bytes([80 * label, 10 * i, 7])))
            (folder / "sounds" / ("class%d" % label) / ("%d.wav" % i)).write_bytes(wav([1000 * label * t + 100 * i for t in range(10 + i)]))
