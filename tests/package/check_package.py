"""What the packages hold, and that it works where it is unpacked: check_package.py BUILD SOURCE

Makes the packages of a build folder (cpack), unpacks them, and checks the files, the fields of the .deb, that no path of this machine is in
them, that a training, a prediction and a program with the library run from there, and that nothing was written beside them. Without
dpkg-shlibdeps and file there is no .deb, which is said. tests/package/fresh.sh installs and removes the packages; that takes a machine of its own.
"""
import fnmatch
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HELD = """
bin/heddle  include/heddle/heddle.h  libexec/heddle/heddle-nvrtc
lib/libheddle.so  lib/libheddle.so.[0-9]  lib/libheddle.so.[0-9].*
lib/cmake/Heddle/HeddleConfig.cmake  lib/cmake/Heddle/HeddleConfig-release.cmake  lib/cmake/Heddle/HeddleConfigVersion.cmake
share/bash-completion/completions/heddle  share/zsh/vendor-completions/_heddle  share/fish/vendor_completions.d/heddle.fish
share/man/man1/heddle.1
share/doc/heddle/README.md  share/doc/heddle/CHANGELOG.md  share/doc/heddle/LICENSE  share/doc/heddle/copyright
share/doc/heddle/example/CMakeLists.txt  share/doc/heddle/example/built.cpp  share/doc/heddle/example/example.cpp
""".split()
FOLDERS = {"share/heddle/models/*": "models", "share/doc/heddle/docs/*": "docs"}  # their files are those of the project's folder
problems = []


def expect(truth, what):
    if not truth:
        problems.append(what)


# Of the folders' files: models, their data and weights, pages.
INSTALLED = {".json", ".csv", ".safetensors", ".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".gif", ".md"}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        problems.append(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def contents(folder):
    """path -> what a file holds, where a link leads to"""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = "-> " + os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def check_files(prefix, source, build):
    files = set(contents(prefix))
    for pattern in HELD:
        expect(fnmatch.filter(files, pattern), f"{prefix.name}: there is no {pattern}")
    for pattern, folder in FOLDERS.items():
        held = {f.removeprefix(pattern.removesuffix("*")) for f in fnmatch.filter(files, pattern)}
        project = {str(p.relative_to(source / folder)) for p in (source / folder).rglob("*") if p.suffix in INSTALLED}
        expect(held == project and held, f"{prefix.name}: {pattern} differs from {folder}: {sorted(held ^ project)}")
    for file in files:
        expect(any(fnmatch.fnmatch(file, p) for p in [*HELD, *FOLDERS]), f"{prefix.name}: {file} does not belong there")
        content = b"" if (prefix / file).is_symlink() else (prefix / file).read_bytes()
        for place in (source, build):
            expect(str(place).encode() not in content, f"{file} holds {place}")
        mode = (prefix / file).stat().st_mode & 0o7777
        expect(mode == (0o755 if file.startswith(("bin/", "libexec/")) else 0o644), f"{file}: its mode is {mode:o}")
    for shell in ("bash-completion/completions/heddle",):
        run("bash", "-n", prefix / "share" / shell)


def check_control(deb, version):
    fields = dict(re.findall(r"^ ?([A-Z][\w-]+): (.*)$", run("dpkg-deb", "-I", deb), re.M))
    depends = fields.get("Depends", "")
    wanted = {"Package": "heddle", "Version": version, "Section": "science", "Priority": "optional"}
    for field, value in wanted.items():
        expect(fields.get(field) == value, f"{field} is {fields.get(field)}, expected {value}")
    expect(depends.startswith("g++ (>= 4:12) | clang (>= 1:14), "), f"Depends does not name the compilers: {depends}")
    for library in ("libc6", "libdnnl", "libfmt", "libgif7", "libgomp1", "libjpeg", "libmimalloc", "libpcre2-8-0", "libpng", "libsndfile1", "libstdc++6", "libtiff6", "libutf8proc2", "libwebp7", "libwebpdemux2", "libxxhash0", "zlib1g"):
        expect(library in depends, f"Depends lacks {library}: {depends}")
    expect(not re.search("cuda|nvidia|nvrtc", depends), f"CUDA is no dependency: {depends}")
    expect("Maintainer" in fields and "Description" in fields, f"fields are missing: {sorted(fields)}")
    scripts = run("dpkg-deb", "-I", deb, "postinst") + run("dpkg-deb", "-I", deb, "postrm")
    expect(scripts.count("ldconfig") >= 2 and not re.search(r"\brm\b", scripts), f"the scripts do more than ldconfig:\n{scripts}")
    owners = set(re.findall(r"^\S+ (\S+)", run("dpkg-deb", "-c", deb), re.M))
    expect(owners == {"root/root"}, f"owners: {owners}")


def check_use(prefix, work, version):
    """Trains, predicts, and builds a program, with neither HOME nor the project in sight."""
    work.mkdir()
    environment = {"PATH": os.environ["PATH"], "HEDDLE_CACHE": str(work / "kernels")}
    heddle, before = prefix / "bin" / "heddle", contents(prefix)
    options = {"cwd": work, "env": environment}
    expect(run(heddle, "--version", **options) == f"heddle {version}\n", "the version is another")
    run(heddle, "train", "digits_cnn", "--epochs=1", "--save=w.safetensors", "--device=host", **options)
    picture = [[255 if 12 < x < 16 and 4 <= y < 24 else 0 for x in range(28)] for y in range(28)]
    (work / "one.csv").write_text(",".join(str(p) for row in picture for p in row) + "\n")
    told = run(heddle, "predict", "digits_cnn", "--weights=w.safetensors", "--in=one.csv", "--top=1", "--device=host", **options)
    expect('"index": 1,' in told, f"a drawn one is told as {told}")
    run("cmake", "-S", prefix / "share/doc/heddle/example", "-B", "program", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release", **options)
    run("cmake", "--build", "program", **options)
    said = run(work / "program" / "example", prefix / "share/heddle/models/digits_cnn.json", "w2.safetensors", **options)
    expect("a 1, with probability" in said, f"the program said: {said}")
    expect(contents(prefix) == before, "something was written among what is installed")


def main():
    build, source = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        run("cpack", "--config", build / "CPackConfig.cmake", "-B", work / "made", umask=0o077)
        [archive], debs = (work / "made").glob("*.tar.gz"), list((work / "made").glob("*.deb"))
        version = re.search(r"-([0-9.]+)-linux", archive.name)[1]
        run("tar", "xzf", archive, "-C", work)
        prefix = work / archive.name.removesuffix(".tar.gz")
        check_files(prefix, source, build)
        check_use(prefix, work / "archive", version)
        for deb in debs:
            check_control(deb, version)
            run("dpkg-deb", "-x", deb, work / "deb")
            check_files(work / "deb" / "usr", source, build)
            expect(contents(work / "deb" / "usr") == contents(prefix), "the .deb holds other files than the archive")
            expect(deb.name == f"heddle_{version}_{run('dpkg', '--print-architecture').strip()}.deb", f"its name is {deb.name}")
            print(f"{deb.name}: {deb.stat().st_size / 1e6:.1f} MB")
        if not debs:
            print("no .deb: dpkg-shlibdeps (Debian's dpkg-dev) or file was not there when the build was configured")
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB, {len(contents(prefix))} files")
    print("\n".join(problems) or "as they should be")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
