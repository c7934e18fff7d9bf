"""Checks what the shipped binary needs to start: python3 tools/check_binary.py BINARY

No NVIDIA library may be among the NEEDED entries (the binary would not start without a driver, or 80 ms late), mimalloc comes after the
libraries whose malloc and operator new it would replace, and --version must answer within 20 ms. A machine that is busy with other tests
starts every program late. So `true` is started between the runs, and --version may take 30 times as long as it, if that is more: it takes
about 12 times as long, and a CUDA library alone would make that 130.
"""
import re
import subprocess
import sys
import time

ALLOWED = {"libdnnl", "libgomp", "libz", "libpng16", "libjpeg", "libxxhash", "libpcre2-8", "libutf8proc", "libsndfile", "libfmt", "libmimalloc", "libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64"}
LIMIT_MS = 20
LIMIT_STARTS = 30


def milliseconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return (time.perf_counter() - begin) * 1e3


def main():
    binary, problems = sys.argv[1], []
    dynamic = subprocess.run(["readelf", "-d", binary], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic)
    for library in needed:
        if library.split(".so")[0] not in ALLOWED:
            problems.append(f"needs {library}")
    names = [x.split(".so")[0] for x in needed]
    if "libmimalloc" in names and max(names.index("libc"), names.index("libstdc++")) > names.index("libmimalloc"):
        problems.append("libmimalloc comes before libc or libstdc++: its malloc and operator new would be everyone's")
    if not needed:
        problems.append("readelf lists no needed library: is it a binary?")
    times, starts = [], []
    for _ in range(15):
        starts.append(milliseconds(["true"]))
        times.append(milliseconds([binary, "--version"]))
    limit = max(LIMIT_MS, LIMIT_STARTS * min(starts))
    if min(times) > limit:
        problems.append(f"--version takes {min(times):.1f} ms, limit {limit:.1f} (`true` takes {min(starts):.1f})")
    print("\n".join(problems) or f"needs {', '.join(needed)}; --version in {min(times):.1f} ms, `true` in {min(starts):.1f}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
