"""Checks which folder includes which: python3 tools/check_layering.py [ROOT]

The layers are those of docs/design.md: ir below frontend, passes and codegen, which do not know one another; the runtime reads
Programs and nothing else of the compiler; the tools tie all together.
"""
import pathlib
import re
import sys

LAYERS = ("ir", "frontend", "passes", "codegen", "runtime", "tools")
ALLOWED = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "codegen": {"codegen", "ir"},
    "runtime": {"runtime"},
    "tools": set(LAYERS),
}
# The Program and the kinds of its entries, how errors are told, what keys are, which readers there are: these headers include nothing else of their folder.
SINGLE = {
    "runtime": {"codegen/program.h", "ir/entry.h", "ir/diagnostic.h", "ir/check.h", "ir/index_error.h", "ir/keys/key.h", "ir/attr.h"},
    "frontend": {"runtime/data/reader_def.h", "ir/diagnostic.h", "ir/keys/key.h", "ir/attr.h"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def violations(root):
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                included = match.group(1)
                folder = included.split("/")[0]
                where = f"{path.relative_to(root)}:{number}"
                if "/" not in included and not included.endswith(".inc"):
                    yield f'{where}: "{included}" is not named from the root'
                elif folder in LAYERS and folder not in ALLOWED[layer] and included not in SINGLE.get(layer, ()):
                    yield f"{where}: {layer} must not include {included}"


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
