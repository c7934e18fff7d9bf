"""Writes ten rows of good arrays and damaged variants of them: python3 make_npy.py FOLDER

NumPy itself is not needed: its format is a header, which is a dictionary, and the elements (numpy.lib.format).
"""
import gzip
import io
import pathlib
import struct
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])


def npy(descr, shape, elements, version=1, fortran=False, header=None):
    text = header or f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    prefix = 10 if version == 1 else 12
    text += " " * (-(prefix + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode() + elements


def npz(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            with archive.open(zipfile.ZipInfo(name + ".npy", (2020, 1, 1, 0, 0, 0)), "w", force_zip64=True) as out:  # as NumPy
                out.write(content)
    return buffer.getvalue()


def deflated(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name + ".npy", content)
    return buffer.getvalue()


pixels = bytes(range(40))
labels = [i % 3 for i in range(10)]
x = npy("|u1", (10, 2, 2), pixels)
y = npy("<i8", (10,), struct.pack("<10q", *labels))
arrays = {"x": x, "y": y}
stored, squeezed = npz(arrays), deflated(arrays)
floats = npy("<f4", (10, 4), struct.pack("<40f", *range(40)))
directory = stored.rindex(b"PK\x05\x06")
damaged = {
    "empty.npy": b"",
    "text.npy": b"text, not numbers at all",
    "packed.npy": gzip.compress(x),
    "plain.npy.gz": x,
    "half.npy": x[:40],
    "magic.npy": b"\x93NUMPZ" + x[6:],
    "version.npy": x[:6] + b"\x09" + x[7:],
    "short.npy": x[:-1],
    "long.npy": x + b"x",
    "fortran.npy": npy("|u1", (10, 4), pixels, fortran=True),
    "object.npy": npy("|O", (10, 4), pixels),
    "text_elements.npy": npy("<U4", (10, 4), bytes(640)),
    "complex.npy": npy("<c8", (10, 4), bytes(320)),
    "records.npy": npy("", (), pixels, header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (10,), }"),
    "no_order.npy": npy("f4", (10, 4), bytes(160)),
    "scalar.npy": npy("<f4", (), bytes(4)),
    "no_rows.npy": npy("<f4", (0, 4), b""),
    "negative.npy": npy("<f4", (-10, 4), bytes(160)),
    "huge.npy": npy("<f4", (2**62, 2**62), bytes(160)),
    "overflow.npy": npy("<f4", (2**64, 4), bytes(160)),
    "no_shape.npy": npy("", (), pixels, header="{'descr': '|u1', 'fortran_order': False}"),
    "twice.npy": npy("", (), pixels, header="{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (10, 4)}"),
    "code.npy": npy("", (), pixels, header="__import__('os').system('id')"),
    "deep.npy": npy("", (), pixels, header="(" * 1000),
    "long_header.npy": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(100),
    "wide.npy": npy("|u1", (10, 5), bytes(50)),
    "few.npy": npy("|u1", (9, 4), bytes(36)),
    "label3.npy": npy("<i4", (10,), struct.pack("<10i", *labels[:7], 3, 0, 1)),
    "column.npy": npy("|u1", (10, 1), bytes(10)),
    "float_labels.npy": npy("<f8", (10,), bytes(80)),
    "large.npy": npy("<u8", (10,), struct.pack("<10Q", *labels[:9], 2**63)),
    "text.npz": b"text, not an archive, but long enough for one",
    "cut.npz": stored[:-30],
    "middle.npz": stored[len(stored) // 2 :],
    "flipped.npz": stored[: stored.index(pixels)] + b"\x55" + stored[stored.index(pixels) + 1 :],
    "squeezed_flipped.npz": squeezed[:60] + bytes([squeezed[60] ^ 255]) + squeezed[61:],
    "members.npz": stored[: directory + 10] + b"\xff\x7f" + stored[directory + 12 :],
    "place.npz": stored[: directory + 16] + b"\xff\xff\xff\x7f" + stored[directory + 20 :],
    "short_member.npz": deflated({"x": x[:-3], "y": y}),
}
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_BZIP2) as archive:
    archive.writestr("x.npy", x)
damaged["bzip2.npz"] = buffer.getvalue()
good = {
    "x.npy": x,
    "y.npy": y,
    "version2.npy": npy("|u1", (10, 2, 2), pixels, version=2),
    "version3.npy": npy("|u1", (10, 2, 2), pixels, version=3),
    "flat.npy": npy("|u1", (10, 4), pixels),
    "i1.npy": npy("|i1", (10, 4), pixels),
    "i2.npy": npy("<i2", (10, 4), struct.pack("<40h", *range(40))),
    "i2_big.npy": npy(">i2", (10, 4), struct.pack(">40h", *range(40))),
    "i4.npy": npy("<i4", (10, 4), struct.pack("<40i", *range(40))),
    "i8_big.npy": npy(">i8", (10, 4), struct.pack(">40q", *range(40))),
    "u2.npy": npy("<u2", (10, 4), struct.pack("<40H", *range(40))),
    "u4_big.npy": npy(">u4", (10, 4), struct.pack(">40I", *range(40))),
    "u8.npy": npy("<u8", (10, 4), struct.pack("<40Q", *range(40))),
    "f2.npy": npy("<f2", (10, 4), struct.pack("<40e", *range(40))),
    "f2_big.npy": npy(">f2", (10, 4), struct.pack(">40e", *range(40))),
    "f4.npy": floats,
    "f4_big.npy": npy(">f4", (10, 4), struct.pack(">40f", *range(40))),
    "f8.npy": npy("<f8", (10, 4), struct.pack("<40d", *range(40))),
    "unaligned.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", 61)
    + b"{'descr': '<f4', 'fortran_order': False, 'shape': (10, 4), }\n" + struct.pack("<40f", *range(40)),
    "stored.npz": stored,
    "deflated.npz": squeezed,
}
for name, content in {**good, **damaged}.items():
    (folder / name).write_bytes(content)
print(*(name for name in good if name.endswith(".npy") and name not in ("x.npy", "y.npy")), sep="\n")
