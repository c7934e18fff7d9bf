"""Checks which folder includes which: python3 tools/check_layering.py [ROOT]

The layers are those of docs/design.md: ir below frontend, passes and codegen, which do not know one another; the runtime
reads Programs and nothing else of the compiler; tools/driver ties all together, and the other tools stand on it.
"""
import pathlib
import re
import sys

COMPILER = {"ir", "frontend", "passes", "codegen", "runtime"}
ALLOWED = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "codegen": {"codegen", "ir"},
    "runtime": {"runtime"},
    "tools/driver": COMPILER | {"tools/driver"},
    "tools/predict": COMPILER | {"tools/driver", "tools/predict"},
    "tools/generate": COMPILER | {"tools/driver", "tools/generate"},
    "tools/api": COMPILER | {"tools/driver", "tools/predict", "tools/generate", "tools/api"},
    "tools": COMPILER | {"tools"},
}
# The Program and the kinds of its entries, how errors are told, how a text is read, what keys are, which readers there are, the rule of int8: these headers
# include nothing else of their folder.
SINGLE = {
    "runtime": {"codegen/program.h", "ir/entry.h", "ir/cursor.h", "ir/diagnostic.h", "ir/check.h", "ir/index_error.h", "ir/keys/key.h", "ir/attr.h", "ir/read_text.h", "ir/int8.h"},
    "frontend": {"runtime/data/reader_def.h", "ir/diagnostic.h", "ir/keys/key.h", "ir/attr.h"},
}
# Results on standard output, where a prediction writes them: of the command line this alone.
RESULTS = {"tools/predict": {"tools/command/output.h"}}
TOP = sorted({layer.split("/")[0] for layer in ALLOWED})
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def layer_of(path):
    """The layer with the longest name that the path begins with; none: the file is of another project."""
    return max((layer for layer in ALLOWED if path.startswith(layer + "/")), key=len, default=None)


def may_include(layer, included):
    of = layer_of(included)
    alone = SINGLE.get(layer, set()) | RESULTS.get(layer, set())
    return of is None or included in alone or any(of == a or of.startswith(a + "/") for a in ALLOWED[layer])


def violations(root):
    for path in sorted(path for top in TOP for path in (root / top).rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        name = str(path.relative_to(root))
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            included = match.group(1)
            if "/" not in included and not included.endswith(".inc"):
                yield f'{name}:{number}: "{included}" is not named from the root'
            elif not may_include(layer_of(name), included):
                yield f"{name}:{number}: {layer_of(name)} must not include {included}"


def closed(root):
    """The headers of SINGLE may include only each other, or they would bring their folder along."""
    for headers in SINGLE.values():
        for header in sorted(headers):
            path = root / header
            for line in path.read_text().splitlines() if path.exists() else ():
                match = INCLUDE.match(line)
                if match and match.group(1) not in headers:
                    yield f"{header}: includes {match.group(1)}, but the runtime may read it alone"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    found = [*violations(root), *closed(root)]
    print("\n".join(found) if found else "layers are kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
