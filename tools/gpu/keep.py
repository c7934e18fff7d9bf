"""Packs a folder into a tar.gz of limited size, what tells most first.

usage: keep.py ARCHIVE FOLDER [MOST_BYTES]

Files go in by the folder they lie in (1, 2, 3: the most telling first), the smaller ones of it first, as long as the archive stays
within MOST_BYTES (15 MB); a file that does not fit is cut to its begin and end, or left out. What was is listed in the archive as
LEFT_OUT. Where the folder holds nothing, no archive is made.
"""
import io
import pathlib
import sys
import tarfile
import zlib

CUT = 1 << 20  # of a large file, the begin and the end of half that each
HEADER = 1024  # of a member, at most, compressed or not


def short(content):
    if len(content) <= CUT:
        return content
    return content[:CUT // 2] + b"\n... %d bytes are left out here ...\n" % (len(content) - CUT) + content[-CUT // 2:]


def add(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def main():
    target, folder = map(pathlib.Path, sys.argv[1:3])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 15_000_000
    files = [p for p in folder.rglob("*") if p.is_file()]
    files.sort(key=lambda p: (p.relative_to(folder).parts[0] if p.parent != folder else "", p.stat().st_size, p.name))
    if not files:
        return
    left, out = most - 2 * HEADER, []
    with tarfile.open(target, "w:gz") as archive:
        for path in files:
            name, content = str(path.relative_to(folder)), path.read_bytes()
            for form in (content, short(content)):
                bytes_of = len(zlib.compress(form, 6)) + HEADER
                if bytes_of <= left:
                    add(archive, name, form)
                    left -= bytes_of
                    break
            else:
                form = None
            if form is not content:
                out.append(f"{name}: {'left out' if form is None else 'cut'}, {len(content)} bytes")
        if out:
            add(archive, "LEFT_OUT", ("\n".join(out) + "\n").encode()[:CUT])


main()
