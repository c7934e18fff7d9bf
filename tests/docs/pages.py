"""What every page keeps to.

    pages.py [ROOT]     exit code 1, and a line for each fault, where
                        - a line has more than 100 columns outside of tables and code,
                        - a link leads to no page or to no heading of it,
                        - a page says nothing before its second heading,
                        - docs/README.md lacks a page, or the answer to a question.

A reader who knows PyTorch and not this project finds the answers within a minute: docs/README.md has each question with
the page and the heading that answer it.
"""
import pathlib
import re
import sys

MOST_COLUMNS = 100
QUESTIONS = [
    "How do I train on my own table?",
    "How do I find an error in my model?",
    "How do I change a number without editing the file?",
    "Which layers are there?",
    "How do I share weights, or repeat layers?",
    "How do I set a learning-rate schedule?",
    "How do I stop a training early?",
    "How do I bound or penalise weights?",
    "How do I freeze parameters?",
    "How do I resume?",
    "How do I load PyTorch's weights?",
    "How do I put a new head on old weights?",
    "How do I get predictions?",
    "How do I generate text?",
    "How much memory does a training take?",
    "What fits into my memory, and what does it cost?",
    "My GPU has 8 GB: what do I write?",
    "Why is my loss nan?",
    "Do I get the same numbers in every run?",
    "Where does the time of a step go?",
    "How do I train on a GPU?",
    "What is an index map?",
    "Where is fusion decided?",
    "Why were two kernels not fused?",
    "How do I add an operator?",
    "How do I call Heddle from C++?",
]


def pages(root):
    return sorted([*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("bench/*.md")])


def prose(page):
    """(line number, line) of what is neither code nor a table."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    ") and not line.lstrip().startswith("|"):
            yield number, line


def headings(page):
    """The names by which links reach the headings of a page: GitHub's, a second one of equals with -1 behind it."""
    seen = {}
    for _, line in prose(page):
        if found := re.match(r"#+ (.*)", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", found[1])
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            seen[name] = seen.get(name, -1) + 1
            yield name + (f"-{seen[name]}" if seen[name] else "")


def links(page):
    """(line number, page, heading or "") of the links to pages: in tables, too, not in code."""
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        if fenced or line.startswith("    "):
            continue
        for to in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if "://" not in to:
                path, _, heading = to.partition("#")
                yield number, (page.parent / path).resolve() if path else page, heading


def faults_of(root, page):
    name = page.relative_to(root)
    text = list(prose(page))
    for number, line in text:
        if len(line) > MOST_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, more than {MOST_COLUMNS}"
    first = [line for _, line in text if line.strip()][1:2]
    if first and first[0].startswith("#") and page.name != "CHANGELOG.md":
        yield f"{name}: says nothing before its second heading: who needs the page, and what for?"
    for number, to, heading in links(page):
        if not to.exists():
            yield f"{name}:{number}: there is no {to.name}"
        elif heading and heading not in set(headings(to)):
            yield f"{name}:{number}: {to.name} has no heading #{heading}"


def faults_of_index(root):
    index = root / "docs" / "README.md"
    rows = [[cell.strip() for cell in line.split("|")] for line in index.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    answers = {row[1]: row[2] for row in rows if len(row) > 3}
    for question in QUESTIONS:
        if not re.match(r"\[.*\]\(.*#.*\)", answers.get(question, "")):
            yield f"docs/README.md: no page and heading for the question '{question}'"
    listed = {to for _, to, _ in links(index)}
    for page in pages(root):
        if page.parent == index.parent and page != index and page not in listed:
            yield f"docs/README.md: does not list {page.name}"


def main(root):
    root = pathlib.Path(root).resolve()
    faults = [fault for page in pages(root) for fault in faults_of(root, page)] + list(faults_of_index(root))
    print("\n".join(faults), end="\n" if faults else "")
    print(f"{len(pages(root))} pages, {len(QUESTIONS)} questions, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or [pathlib.Path(__file__).parents[2]])))
