"""Texts for the readers of text, and what they are as arrays by Python's own strings: make_text.py FOLDER."""
import gzip
import json
import pathlib
import struct
import sys

home = pathlib.Path(sys.argv[1])
NAMES = {"ant": ["ab", "Aß", "bé"], "bee": ["zebra", "żuk", "ab b"], "cow": ["muuuuuuuuh", "雨", "x"]}
LENGTH = 6


def npy(name, shape, values, descr="<i4", code="i"):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
    (home / name).write_bytes(head + struct.pack("<%d%s" % (len(values), code), *values))


def write(name, text):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def padded(ids, fill):
    return (ids + [fill] * LENGTH)[:LENGTH]


texts = [(text, label) for label, name in enumerate(sorted(NAMES)) for text in NAMES[name]]
for name, lines in NAMES.items():
    write(f"names/{name}.txt", "".join(line + "\n" for line in lines))
    write(f"crlf/{name}.txt", "\ufeff" + "\r\n\r\n".join(lines))
    for i, line in enumerate(lines):
        write(f"folders/{name}/{i}.txt", line)
write("names/README.txt", "about the data\n")
write("names/.hidden", "\xff")
(home / "packed").mkdir()
for name, lines in NAMES.items():
    (home / f"packed/{name}.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))

alphabet = sorted({c for text, _ in texts for c in text})
characters = {c: 1 + i for i, c in enumerate(alphabet)}
npy("label.npy", [len(texts)], [label for _, label in texts])
npy("size.npy", [len(texts)], [min(len(t), LENGTH) for t, _ in texts])
npy("characters.npy", [len(texts), LENGTH], [x for t, _ in texts for x in padded([characters[c] for c in t], 0)])
npy("byte_size.npy", [len(texts)], [min(len(t.encode()), LENGTH) for t, _ in texts])
npy("bytes.npy", [len(texts), LENGTH], [x for t, _ in texts for x in padded([1 + b for b in t.encode()], 0)])
# <pad>, <s>, </s>, then the characters
around = {c: 3 + i for i, c in enumerate(alphabet)}
ids = [[1] + [around[c] for c in t] + [2] for t, _ in texts]
cut = [x[: LENGTH - 1] + [2] if len(x) > LENGTH else x for x in ids]
npy("around.npy", [len(texts), LENGTH], [x for row in cut for x in padded(row, 0)])
npy("around_size.npy", [len(texts)], [len(row) for row in cut])

# The same rows as a table, and as lines of JSON.
kinds = sorted(NAMES)
write("t.csv", "kind,what\n" + "".join(f'{kinds[label]},"{t}"\n' for t, label in texts))
write("t.jsonl", "".join(json.dumps({"what": t, "kind": kinds[label], "n": label}) + "\n" for t, label in texts))
write("raw.jsonl", "".join(json.dumps({"what": t, "kind": kinds[label]}, ensure_ascii=False) + "\n\n" for t, label in texts))

# What is wrong.
write("latin/ant.txt", "good\ncaf\xe9\n".encode("latin-1"))
write("latin/bee.txt", "good\n")
write("nul/ant.txt", b"good\ntw\0o\n")
write("wide/ant.txt", "utf-16".encode("utf-16"))
write("empty_file/ant.txt", "ab\n")
write("empty_file/bee.txt", "\n\n")
write("hollow/ant.txt", "")
(home / "bare").mkdir()
write("mixed/ant.txt", "ab\n")
write("mixed/more/x.txt", "ab\n")
write("twice/ant/more/x.txt", "ab\n")
write("note/README", "nothing else\n")
write("backup/ant.txt", "ab\n")
write("backup/ant.txt~", "an older ab\n")
write("backup/bee.txt", "b\n")
write("many/ant.txt", "".join(chr(0x4e00 + i) + "\n" for i in range(300)))
write("many/bee.txt", "b\n")
write("line/ant.txt", "a" * 3_000_000 + "\n")
write("bad.jsonl", '{"what": "ab", "kind": "ant"}\n{"what": 3, "kind": "ant"}\n')
write("cut.jsonl", '{"what": "ab", "kind": "ant"}\n{"what": "a\n')
write("list.jsonl", '[1]\n')
write("surrogate.jsonl", '{"what": "\\ud800", "kind": "ant"}\n')
write("twice.jsonl", '{"what": "ab", "kind": "ant", "what": "c"}\n')
write("number.jsonl", '{"what": "ab", "kind": "ant"}\n{"what": "ab", "kind": 1}\n')
write("people.jsonl", "".join(json.dumps({"what": "ab"[: 1 + i % 2], "kind": kinds[i % 3], "who": f"p{i // 3}"}) + "\n" for i in range(30)))
write("people_raw.jsonl", (home / "people.jsonl").read_text().replace('"p3"', '"\\u00703"', 1))
write("absent.jsonl", '{"waht": "ab", "kind": "ant"}\n')
