"""Makes folders of wav files of every kind of samples, what they hold as npy, and damaged files: make_sounds.py FOLDER"""
import json
import pathlib
import struct
import sys

root = pathlib.Path(sys.argv[1])
ROW = 32


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(data, code=1, bits=16, channels=1, rate=8000, extra=b"", size=None):
    block = channels * bits // 8
    form = struct.pack("<HHIIHH", code, channels, rate, rate * block, block, bits)
    body = b"WAVE" + chunk(b"fmt ", form) + extra
    data = chunk(b"data", data) if size is None else b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body + data)) + body + data


def rf64(data, said):
    """Lengths of 64 bits, of which the samples' is `said`."""
    long = struct.pack("<QQQI", len(data) + 80, said, said // 2, 0)
    return b"RF64" + struct.pack("<I", 0xFFFFFFFF) + b"WAVE" + chunk(b"ds64", long) + wav(data, size=0xFFFFFFFF)[12:]


def encoded(values, kind):
    """values are integers, to be divided by 128."""
    if kind == "8":
        return wav(bytes(v + 128 for v in values), bits=8)
    if kind in ("float", "double"):
        code = "f" if kind == "float" else "d"
        return wav(b"".join(struct.pack("<" + code, v / 128) for v in values), code=3, bits=8 * struct.calcsize(code))
    bits = int(kind)
    return wav(b"".join((v << (bits - 8)).to_bytes(4, "little", signed=True)[: bits // 8] for v in values), bits=bits)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def npy(name, dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    write(root / name, b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data)


sounds, labels = [], []
for label, name in enumerate(("no", "up", "yes")):
    for n in range(4):
        size = 20 + 5 * n  # the last one is longer than a row
        sounds.append([(37 * t * (label + 1) + 11 * n) % 255 - 127 for t in range(size)])
        labels.append(label)
        for kind in ("8", "16", "24", "32", "float", "double"):
            folder = "words" if kind == "16" else f"words_{kind}"
            write(root / folder / name / f"{n}.wav", encoded(sounds[-1], kind))
        # Two channels, whose mean are the samples; a list of remarks stands before them.
        both = b"".join(struct.pack("<hh", min(256 * v + 300, 32767), 2 * 256 * v - min(256 * v + 300, 32767)) if abs(v) < 60 else
                        struct.pack("<hh", 256 * v, 256 * v) for v in sounds[-1])
        write(root / "words_stereo" / name / f"{n}.WAV", wav(both, channels=2, extra=chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"remark"))))
        # A program that writes into a pipe does not know how much follows.
        plain = b"".join(struct.pack("<h", 256 * v) for v in sounds[-1])
        write(root / "words_pipe" / name / f"{n}.wav", wav(plain, size=0xFFFFFFFF))
        write(root / "words_rf64" / name / f"{n}.wav", rf64(plain, len(plain)))
lines = [{"wav": f"words/{'no up yes'.split()[y]}/{i % 4}.wav", "kind": y} for i, y in enumerate(labels)]
write(root / "words.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
write(root / "words.csv", ("wav,kind\n" + "".join(f"{line['wav']},{line['kind']}\n" for line in lines)).encode())
npy("x.npy", "<f4", (len(sounds), ROW), b"".join(struct.pack("<f", v / 128) for s in sounds for v in (s + [0] * ROW)[:ROW]))
npy("size.npy", "<i4", (len(sounds),), b"".join(struct.pack("<i", min(len(s), ROW)) for s in sounds))
npy("y.npy", "<i4", (len(sounds),), struct.pack(f"<{len(labels)}i", *labels))

plain = struct.pack("<40h", *range(0, 4000, 100))
whole = wav(plain)
BAD = {
    "rate": wav(plain, rate=44100),
    "rate_0": wav(plain, rate=0),
    "cut": whole[:-30],
    "head": whole[:30],
    "lies": wav(plain, size=1 << 30),
    "rf64_cut": rf64(plain, 4000),
    "rf64_lies": rf64(plain, 1 << 62),
    "empty": b"",
    "silent": wav(b""),
    "text": b"these are no samples at all, but words",
    "flac": b"fLaC" + whole[4:],
    "nan": wav(struct.pack("<4f", 0, 1, float("nan"), 0), code=3, bits=32),
    "endless": wav(struct.pack("<4f", 0, 1, float("inf"), 0), code=3, bits=32),
    "adpcm": wav(plain, code=17, bits=4),
    "channels_0": wav(plain, channels=0),
    "parts": b"RIFF" + struct.pack("<I", 99999) + b"WAVE" + chunk(b"junk", b"") * 2000 + whole[12:],
    "unpadded": wav(plain, extra=chunk(b"LIST", b"INFO" + chunk(b"ICMT", b"remarks")[:-1])[:-1]),
    "loop": b"RIFF" + struct.pack("<I", 99999) + b"WAVE" + b"junk" + struct.pack("<I", 0xFFFFFFF0) + whole[12:],
}
for name, content in BAD.items():
    write(root / f"bad_{name}" / "no" / "1.wav", content)
write(root / "eight/no/1.wav", wav(plain, channels=8))
write(root / "odd_mp3/no/1.wav", whole)
write(root / "odd_mp3/no/2.MP3", b"ID3")
(root / "bare/no").mkdir(parents=True)
(root / "nothing").mkdir()
write(root / "bad.jsonl", b'{"wav": "words/no/0.wav", "kind": 0}\n{"kind": 1, "wav": "bad_rate/no/1.wav"}\n')
write(root / "absent.jsonl", b'{"wav": "words/no/9.wav", "kind": 0}\n')
write(root / "number.jsonl", b'{"wav": 7, "kind": 0}\n')
write(root / "outside.jsonl", b'{"wav": "../words/no/0.wav", "kind": 0}\n')
write(root / "bad.csv", b"kind,wav\n0,words/no/0.wav\n1,bad_cut/no/1.wav\n")
