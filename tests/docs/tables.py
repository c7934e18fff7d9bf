"""Tables of a page are what `heddle ops --tables` prints.

    tables.py check FILE    exit code 1 where a table differs, and what differs
    tables.py write FILE    writes them into the page

A page holds a table between the lines `<!-- NAME: from the records, tests/docs/tables.py writes it -->` and `<!-- end -->`.
"""
import difflib
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- (\w+): from the records, tests/docs/tables\.py writes it -->\n).*?(<!-- end -->)", re.S)


def tables():
    text = subprocess.run([os.environ.get("HEDDLE", "heddle"), "ops", "--tables"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"<!-- (\w+) -->\n(.*?\n)\n", text, re.S))


def main(what, path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    known = tables()
    asked = [name for _, name, _ in BLOCK.findall(page)]
    if sorted(asked) != sorted(known):
        sys.exit(f"{path} has tables of {asked}, expected {sorted(known)}")
    made = BLOCK.sub(lambda m: m[1] + known[m[2]] + m[3], page)
    if what == "write":
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    elif made != page:
        sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), made.splitlines(True), path, "the records"))
        sys.exit(f"{path}: run tests/docs/tables.py write {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
