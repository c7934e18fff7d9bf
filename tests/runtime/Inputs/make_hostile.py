"""Files that no honest program wrote, for every reader: make_hostile.py FOLDER

Headers that promise more rows than there are, archives and pictures that grow when they are opened, pipes, folders and links in the place
of files, and tables as people really save them.
"""
import gzip
import os
import struct
import sys
import zipfile
import zlib

os.chdir(sys.argv[1])


def write(name, content):
    with open(name, "wb") as file:
        file.write(content)


def idx(kind, dims, data):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + data


def npy(descr, shape, data, order="False"):
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def sparse(name, start, size):
    with open(name, "wb") as file:
        file.write(start)
        file.truncate(len(start) + size)


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width, height, data=None, bits=8, kind=2):
    lines = b"".join(b"\0" + bytes(width * 3 * bits // 8) for _ in range(height)) if data is None else data
    head = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def archive(name, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, "w", method) as file:
        for key, content in members:
            file.writestr(key, content)


def folder(name, first):
    """Two classes; `first` is class a's only picture, None: no picture."""
    os.makedirs(f"{name}/a")
    os.makedirs(f"{name}/b")
    write(f"{name}/b/1.png", png(6, 8))
    if first is not None:
        write(f"{name}/a/1.png", first)


rows, labels = bytes(range(40)), bytes(i % 3 for i in range(10))
good = idx(8, [10, 4], rows)

# Any reader of files
os.mkfifo("pipe")
os.mkdir("folder")
for name, to in {"within": "x", "zero": "/dev/zero", "memory": "/proc/self/mem", "loop": "loop", "broken": "absent"}.items():
    os.symlink(to, name)

# idx
write("x", good)
write("y", idx(8, [10], labels))
write("no_rows", idx(8, [0, 4], b""))
write("many_rows", idx(8, [2**31, 4], rows))
write("most_rows", idx(8, [2**32 - 1], rows))
write("eight_axes", idx(14, [2**32 - 1] * 8, b""))
write("nine_axes", idx(8, [1] * 9, b"1"))
write("not_a_number", idx(13, [10, 4], struct.pack(">40f", *[1.0] * 5, float("nan"), *[2.0] * 34)))
write("two_members.gz", gzip.compress(good[:20]) + gzip.compress(good[20:]))
write("named.gz", good)
write("grows.gz", gzip.compress(good + bytes(100_000_000), 9))
write("packed_twice.gz", gzip.compress(gzip.compress(good)))
write("header.gz", gzip.compress(good)[:10])
write(b"name\xff\xfe", good)

# npy
write("x.npy", npy("'|u1'", "(10, 4)", rows))
write("y.npy", npy("'|u1'", "(10,)", labels))
write("no_rows.npy", npy("'|u1'", "(0, 4)", b""))
write("one_row.npy", npy("'|u1'", "(1, 4)", bytes(4)))
write("rows31.npy", npy("'|u1'", "(2147483648, 4)", rows))
write("rows63.npy", npy("'|u1'", "(9223372036854775807, 4)", rows))
write("rows64.npy", npy("'|u1'", "(18446744073709551616, 4)", rows))
write("minus.npy", npy("'|u1'", "(-1, 4)", rows))
write("real_shape.npy", npy("'|u1'", "(10.0, 4)", rows))
write("dates.npy", npy("'<M8[ns]'", "(10, 4)", bytes(320)))
write("void.npy", npy("'|V4'", "(10,)", rows))
write("quad.npy", npy("'<f16'", "(10, 4)", bytes(640)))
write("deep.npy", npy("'|u1'", "(" * 200 + "10" + ",)" * 200, rows))
write("column_order.npy", npy("'>f4'", "(10, 4)", bytes(160), order="True"))
sparse("all_rows.npy", npy("'|u1'", "(2147483648, 4)", b""), 2**33)
sparse("all_labels.npy", npy("'|u1'", "(2147483648,)", b""), 2**31)

# npz
x, y = npy("'|u1'", "(10, 4)", rows), npy("'|u1'", "(10,)", labels)
archive("good.npz", [("x.npy", x), ("y.npy", y)])
archive("promises.npz", [("x.npy", npy("'|u1'", "(1000000000, 4)", bytes(1000))), ("y.npy", y)], zipfile.ZIP_DEFLATED)
archive("grows.npz", [("x.npy", npy("'|u1'", "(25000000, 4)", bytes(100_000_000))), ("y.npy", y)], zipfile.ZIP_DEFLATED)
archive("climbs.npz", [("../x.npy", x), ("y.npy", y)])
archive("empty.npz", [])
archive("pickle.npz", [("x.npy", npy("'|O'", "(1,)", b"\x80\x04K\x01.")), ("y.npy", y)])
archive("lzma.npz", [("x.npy", x), ("y.npy", y)], zipfile.ZIP_LZMA)
with open("good.npz", "rb") as file:
    archived = file.read()
write("tail.npz", archived + b"what does not belong here")
write("front.npz", b"#!/bin/sh\n" + archived)
write("half.npz", archived[: len(archived) // 2])

# csv
table = b"a,b,c,d,y\n"
row = b"1,2,3,4,0\n"
write("nan_word.csv", table + b"1,2,3,nan,0\n")
write("utf16.csv", (table + row).decode().encode("utf-16"))
write("mac.csv", (table + row).replace(b"\n", b"\r"))
write("crlf.csv", b"\xef\xbb\xbf" + (table + row).replace(b"\n", b"\r\n"))
write("twice.csv", b"a,b,b,d,y\n" + row)
write("no_names.csv", b",,,,\n" + row)
write("blanks.csv", b"a, b, c, d, y\n" + row)
write("latin.csv", "\u00e4,b,c,d,y\n".encode("latin-1") + row)
write("thousands.csv", table + b'"1,000",2,3,4,0\n')
write("semicolons.csv", (table + row).replace(b",", b";"))
write("comment.csv", b"# by hand\n" + table + row)
write("total.csv", table + row + b"Total: 1\n")
write("label.csv", table + row + b"1,2,3,4,3\n")
write("negative.csv", table + row + b"1,2,3,4,-1\n")
write("wide.csv", b"x," * 150_000 + b"x\n")
write("open_quote.csv", table + b'1,2,3,4,"' + b"x" * 17_000_000)
write("one_line.csv.gz", gzip.compress(table + b" " * 50_000_000, 9))
write("control.csv", table + b"1,2,3,\x1b[31m4,0\n")
write("json.csv", b'{"a": 1}\n')

# cifar: records of a label and 3072 bytes
write("empty.bin", b"")
write("short.bin", bytes(3072))
write("other_label.bin", bytes(3073) + bytes([10]) + bytes(3072))
write("one.bin", bytes(3073))

# Pictures
folder("plain", png(6, 8))
folder("sixteen", png(6, 8, bits=16))
folder("huge", png(2**31 - 1, 2**31 - 1, data=bytes(10)))
folder("nothing", png(0, 0, data=b""))
folder("large", png(20_000, 20_000, data=bytes(10)))
folder("palette", png(6, 8, kind=3))
folder("gif", b"GIF89a" + bytes(50))
folder("jpeg", b"\xff\xd8\xff\xe0" + bytes(50))
# A JPEG of 65500 x 65500 that ends behind its header.
folder("jpeg_huge", b"\xff\xd8\xff\xc0" + struct.pack(">HBHHB", 11, 8, 65500, 65500, 1) + bytes([1, 17, 0]) + b"\xff\xda" + bytes([0, 8, 1, 1, 0, 0, 63, 0]))
folder("pipes", None)
os.mkfifo("pipes/a/1.png")
folder("folders", None)
os.mkdir("folders/a/1.png")
folder("deep", png(6, 8))
os.mkdir("deep/a/more")
folder("links", None)
os.symlink("../b/1.png", "links/a/1.png")
folder("outside", None)
os.symlink("/dev/zero", "outside/a/1.png")
folder("gone", None)
os.symlink("nothing", "gone/a/1.png")
os.mkdir("flat")
write("flat/1.png", png(6, 8))
os.makedirs("others/a")
write("others/a/1.heic", b"RIFF")
os.mkdir("no_class")
for name in ("turning", "lost", "control"):
    folder(name, png(6, 8))
os.symlink("c", "turning/c")
os.symlink("absent", "lost/c")
os.rename("control/a/1.png", "control/a/1\n2.png")
folder("names", png(6, 8))
write(b"names/a/\xff\xfe.png", png(6, 8))
