"""Tables of pages are what `heddle ops --tables` prints; the pages together hold each of them once.

    tables.py check FILE...    exit code 1 where a table differs, and what differs
    tables.py write FILE...    writes them into the pages

A page holds a table between the lines `<!-- NAME: from the records, tests/docs/tables.py writes it -->` and `<!-- end -->`.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- (\w+): from the records, tests/docs/tables\.py writes it -->\n).*?(<!-- end -->)", re.S)


def tables():
    text = subprocess.run([os.environ.get("HEDDLE", "heddle"), "ops", "--tables"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"<!-- (\w+) -->\n(.*?\n)\n", text, re.S))


def main(what, *paths):
    pages = {path: pathlib.Path(path).read_text(encoding="utf-8") for path in paths}
    known = tables()
    asked = [name for page in pages.values() for _, name, _ in BLOCK.findall(page)]
    if sorted(asked) != sorted(known):
        sys.exit(f"{' '.join(paths)}: tables of {asked}, expected {sorted(known)}")
    differs = []
    for path, page in pages.items():
        made = BLOCK.sub(lambda m: m[1] + known[m[2]] + m[3], page)
        if made == page:
            continue
        if what == "write":
            pathlib.Path(path).write_text(made, encoding="utf-8")
        else:
            sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), made.splitlines(True), path, "the records"))
            differs.append(path)
    if differs:
        sys.exit(f"{' '.join(differs)}: run tests/docs/tables.py write {' '.join(paths)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
