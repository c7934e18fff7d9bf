"""Packages that are damaged, of another kind, or sealed again with other contents: each is refused.

    hostile_package.py PACKAGE WEIGHTS ROWS

Each must end with the exit code of the table, one line that begins with `error:` and names the file or what is wrong, one that says what
to do, no sanitizer's report, and nothing written. Tried by predict and by inspect, the first of which needs no data.
"""
import ctypes
import ctypes.util
import json
import pathlib
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import safetensors_file  # noqa: E402

package, weights, rows = map(pathlib.Path, sys.argv[1:])
whole = package.read_bytes()
size = int.from_bytes(whole[:8], "little")  # of the header
folder = package.parent / "hostile"
folder.mkdir()
cases = []  # (file, exit code, what the message names)


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash"))
xxhash.XXH3_128bits.restype = Hash128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def digest(content):
    found = xxhash.XXH3_128bits(content, len(content))
    return struct.pack(">QQ", found.high, found.low)


def key(content):
    return digest(b"%d\n" % len(content) + content).hex()


def case(name, content, code=1, names=None):
    path = folder / f"{len(cases)}_{name}.heddle"
    content(path) if callable(content) else path.write_bytes(content)
    cases.append((path, code, names or path.name))


def flipped(at):
    data = bytearray(whole)
    data[at] ^= 1 << at % 8
    return bytes(data)


def sealed(header, data):
    content = safetensors_file.join(header, data)
    return content[:-16] + digest(content[:-16])


def with_manifest(change):
    """The package with another manifest, whose own checksums are right."""
    header, data = safetensors_file.split(whole)
    manifest = json.loads(header["__metadata__"]["heddle.package"])
    manifest = change(manifest) or manifest
    header["__metadata__"]["heddle.package"] = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return sealed(header, data)


def with_text(change):
    """The package of another model, with all checksums right: two of the weights do not fit "model_changed"."""
    header, data = safetensors_file.split(whole)
    begin, end = header["model.json"]["data_offsets"]
    text = change(data[begin:end].decode()).encode()
    manifest = json.loads(header["__metadata__"]["heddle.package"])
    file = next(f for f in manifest["files"] if f["name"] == "model.json")
    file["bytes"], file["hash"] = len(text), key(text)
    header["__metadata__"]["heddle.package"] = json.dumps(manifest)
    header["model.json"].update({"shape": [len(text)], "data_offsets": [begin, begin + len(text)]})
    for name, tensor in header.items():
        if name not in ("__metadata__", "model.json") and tensor["data_offsets"][0] >= end:
            tensor["data_offsets"] = [at + len(text) - (end - begin) for at in tensor["data_offsets"]]
    return sealed(header, data[:begin] + text + data[end:])


def target(**values):
    def change(manifest):
        manifest["targets"][0].update(values)

    return with_manifest(change)


def program(**values):
    def change(manifest):
        for p in manifest["targets"][0]["programs"]:
            p.update(values)

    return with_manifest(change)


def file(number, **values):
    return with_manifest(lambda m: m["files"][number].update(values))


for at in (0, 1, 7, 8, 9, 8 + size // 2, 8 + size - 1, 8 + size, 8 + size + 1, (8 + size + len(whole)) // 2, len(whole) - 17, len(whole) - 16, len(whole) - 1):
    case("cut", whole[:at])
for at in (0, 2, 5, 7, 8, 9, 20, 40, 100, 8 + size // 3, 8 + size // 2, 8 + size - 2, 8 + size, 8 + size + 99, (8 + size + len(whole)) // 2, len(whole) - 5000, len(whole) - 17, len(whole) - 9, len(whole) - 1):
    case("bit", flipped(at))
case("longer", whole + b"\0")
case("twice", whole + whole)
case("reversed", whole[::-1])
case("zeros", bytes(len(whole)))
case("weights", weights.read_bytes())
case("zip", b"PK\x03\x04" + bytes(100))
case("text", b"not a package\n")
case("huge", struct.pack("<Q", 1 << 62) + whole[8:])
case("deep", struct.pack("<Q", 100000) + b"[" * 100000)
case("loop", lambda p: p.symlink_to(p.name), names="loop")
case("folder", lambda p: p.mkdir(), names="folder")

# Sealed again: the checksum is right, and what it stands for is not.
same = folder / "same.heddle"
same.write_bytes(with_text(lambda text: text))
assert subprocess.run(["heddle", "inspect", str(same)], capture_output=True, check=False).returncode == 0
case("format", with_manifest(lambda m: m.update({"format": "heddle-package/2"})), names="the format is 'heddle-package/2'")
case("version", with_manifest(lambda m: m.update({"heddle": "99.0"})), names="made by Heddle 99.0")
case("words", with_manifest(lambda m: "no JSON"))
case("nested", with_manifest(lambda m: "[" * 100000))
case("list", with_manifest(lambda m: "[]"))
case("none", with_manifest(lambda m: "{}"))
case("kind", with_manifest(lambda m: m.update({"targets": 1})))
case("many", with_manifest(lambda m: m.update({"targets": m["targets"] * 1000})))
case("lacking", with_manifest(lambda m: m.pop("files") and None))
case("escape", with_manifest(lambda m: m.update({"model": "\x1b[2J"})))
case("target", target(target="mainframe"))
case("huge_rows", target(predict_rows=1 << 62))
case("negative_rows", target(predict_rows=-1))
case("real_rows", target(predict_rows=0.5))
case("other_rows", target(predict_rows=7), names="made for batches of other rows")
case("machine", target(machine="pdp11"), 3, "this machine is")
case("instructions", target(instructions=["avx4096"]), 3, "needs avx4096")
case("no_programs", target(programs=[]))
case("bytes", program(state_bytes=-1))
case("many_bytes", program(arena_bytes=1 << 60))
case("hash", program(hash="0" * 32), names="is another")
case("purpose", program(**{"for": "fly"}), names="was not made for 'predict'")
case("gpu", target(target="h200", arch="sm_90a"), 3)
case("file", file(0, name="../../etc/passwd"))
case("file_bytes", file(0, bytes=1 << 40))
case("file_hash", file(0, hash="0" * 32))
case("file_twice", with_manifest(lambda m: m["files"].append(m["files"][0])))
case("file_unnamed", with_manifest(lambda m: m["files"].pop() and None))
case("model", with_text(lambda text: "{}"), names="error: ")
case("model_changed", with_text(lambda text: text.replace('"units": 10', '"units": 11')), names="error: ")
case("model_bytes", with_text(lambda text: "\0" * 1000), names="error: ")
case("model_bomb", with_text(lambda text: "[" * 100000), names="error: ")


def check(path, code, names):
    words = ["predict", str(path), "--device", "host", "--weights", str(weights), "--in", str(rows), "--out", str(folder / "never.csv")]
    good = True
    for command, codes in ((words, (code,)), (["inspect", str(path)], (0, code))):
        done = subprocess.run(["heddle", *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60)
        said = done.stdout + done.stderr
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        fits = done.returncode in codes and not any(w in said for w in ("Sanitizer", "runtime error:", "internal error")) and "\x1b" not in said
        if done.returncode != 0:
            fits = fits and len(errors) == (2 if "model_changed" in path.name and command[0] == "predict" else 1) and (names in done.stderr or command[0] == "inspect")
        if not fits:
            print(f"{command[0]} {path.name}: exit {done.returncode}, expected {codes} and '{names}':\n{said[:600]}")
        good = good and fits
    return good and not (folder / "never.csv").exists()


bad = [path for path, code, names in cases if not check(path, code, names)]
print(f"{len(cases)} packages, {len(bad)} not refused as they should be")
sys.exit(1 if bad else 0)
