"""Counts the tests of one or more runs: python3 tools/count_tests.py FOLDER...

A folder holds ctest.xml and, for tests that are collections (GoogleTest binaries, lit), a file NAME.xml with their cases. The last
line is "N passed, N failed, N skipped"; failed and skipped cases are named above it. Exits 1 when any failed or none ran.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled") or case.get("result") == "skipped":
        return "skipped"
    return "failed" if case.get("status") == "fail" else "passed"


def cases(folder):
    for test in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name, result = test.get("name"), outcome(test)
        details = folder / f"{name}.xml"
        inner = list(ElementTree.parse(details).getroot().iter("testcase")) if details.exists() else []
        results = [(f"{folder.parent.name}: {name}: {c.get('classname')}.{c.get('name')}", outcome(c)) for c in inner]
        # A binary that dies halfway leaves no failed case, or no file at all.
        if not results or (result == "failed" and all(r != "failed" for _, r in results)):
            results.append((f"{folder.parent.name}: {name}", result))
        yield from results


def main():
    found = [case for folder in sys.argv[1:] for case in cases(pathlib.Path(folder))]
    counts = {kind: [name for name, result in found if result == kind] for kind in ("passed", "failed", "skipped")}
    for kind in ("skipped", "failed"):
        for name in counts[kind]:
            print(f"{kind}: {name}")
    print(", ".join(f"{len(names)} {kind}" for kind, names in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
