"""Writes twelve rows as people have them: in dialects, spellings and several files, and hostile tables: python3 make_tables.py FOLDER"""
import csv
import gzip
import io
import pathlib
import random
import struct
import sys

folder = pathlib.Path(sys.argv[1])
random.seed(7)
ROWS = 12
x = [[struct.unpack("f", struct.pack("f", round(random.gauss(0, 10 ** (1 + j)), 3)))[0] for j in range(4)] for _ in range(ROWS)]
y = [(i * 2) % 3 for i in range(ROWS)]
HEADER = ["a", "b", "name, long", "d", "label"]


def idx(kind, dims, elements):
    return bytes([0, 0, kind, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + elements


(folder / "x.idx").write_bytes(idx(0x0D, [ROWS, 4], struct.pack(f">{ROWS * 4}f", *sum(x, []))))
(folder / "y.idx").write_bytes(idx(8, [ROWS], bytes(y)))


def spelled(value, decimal, thousands):
    """A float with four digits behind the point, which give an f32 below 100000 with three digits back; ours need no more."""
    text = f"{value:,.4f}"
    return text.replace(",", "\0").replace(".", decimal).replace("\0", thousands)


def table(delimiter=",", decimal=".", thousands="", quote='"', end="\n", head=True, rows=range(ROWS), quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=delimiter, quotechar=quote, lineterminator=end, quoting=quoting)
    if head:
        out.writerow(HEADER)
    for i in rows:
        out.writerow([*(spelled(v, decimal, thousands) for v in x[i]), y[i]])
    return text.getvalue()


# The shortest text of four digits must be the number that x.idx holds.
assert all(struct.unpack("f", struct.pack("f", float(spelled(v, ".", ""))))[0] == v for row in x for v in row)
assert any(abs(v) >= 1000 for row in x for v in row)
BEFORE = 'Exported by "measure 2\n\nfrom;here,to|there\n'
plain = table()
good = {
    "plain.csv": plain,
    "german.csv": table(";", ",", "."),
    "decimal_comma.csv": table(";", ",", end="\r\n"),
    "swiss.csv": table("\t", ".", "'"),
    "french.csv": table(";", ",", "\u202f"),
    "english.csv": table(",", ".", ","),  # the writer quotes what holds a comma
    "quoted_commas.csv": table(",", ",", quoting=csv.QUOTE_ALL),
    "pipes.csv": table("|"),
    "tabs.csv": table("\t"),
    "semicolons.csv": table(";"),
    "title.csv": BEFORE + plain,
    "remarks.csv": "# made by hand\n" + plain.replace("\n", "\n# a remark, \"\n", 4) + "#",
    "all.csv": BEFORE + "% units: m; s\n" + table("|", ",", ".", quote="'", end="\r\n"),
    "single_quotes.csv": table(quote="'"),
    "headless.csv": table(";", ",", head=False),
    "part-1.csv": table(rows=range(0, 5)),
    "part-10.csv": table(rows=range(5, 6)),
    "part-2.csv": table(rows=range(6, 12)),
    "semicolon-1.csv": table(";", ",", ".", rows=range(0, 6)),
    "tab-2.csv": table("\t", ",", ".", rows=range(6, 12)),
    "headless-1.csv": table(head=False, rows=range(0, 4)),
    "headless-2.csv": table(head=False, rows=range(4, 12)),
}
(folder / "inches.csv").write_text("id,a\n5\" nail,1\n6\" nail,2\n")
for name, text in good.items():
    (folder / name).write_text(text, newline="")
(folder / "zipped-1.csv.gz").write_bytes(gzip.compress(good["part-1.csv"].encode()))

lines = plain.split("\n")


def first(a="1", b="2", c="3", d="4", label="0", delimiter=",", rest=plain):
    """The first row replaced."""
    header, rows = rest.split("\n")[0], rest.split("\n")[2:]
    return "\n".join([header, delimiter.join([a, b, c, d, label]), *rows])


german, comma, semicolons = good["german.csv"], good["decimal_comma.csv"].replace("\r", ""), good["semicolons.csv"]
hostile = {
    # delimiters
    "two_ways": "a,b;c\n1,2\n3;4\n",
    "sentences": "text\none, two\nthree\n",
    "more_fields": plain + "1,2,3,4,0,5\n",
    "fewer_fields": plain + "1,2,3,4\n",
    "never_closed": "a;\"b\n" + "1;2\n" * 100,
    "one_long_line": "a," * 200_000,
    "binary": "\x00\x01\x02;" * 1000,
    # spellings
    "point": first("1.5", rest=comma, delimiter=";"),
    "comma": first('"1,5"'),
    "both": first("1,234.5", rest=comma, delimiter=";"),
    "short_group": first("1.23", rest=german, delimiter=";"),
    "long_group": first("1.2345", rest=german, delimiter=";"),
    "open_group": first("1.", rest=german, delimiter=";"),
    "no_group": first("1..234", rest=german, delimiter=";"),
    "bare_comma": "a,b,c,d,label\n1,5,2,3,4,0\n",
    "percent": first("12%"),
    "currency": first("$12"),
    "letter": first("O"),
    "half_true": first("tRue"),
    "on": first("on"),
    "minus": first("\u22125"),
    "infinite": first("-Infinity"),
    "huge": first("1" + ".000" * 13, rest=german, delimiter=";"),
    "real_label": first(label="0,5", rest=comma, delimiter=";"),
    "yes_label": first(label="maybe"),
    # lines
    "short": "one\ntwo\n",
    "only_title": "one\ntwo\nthree\n",
    "only_remarks": "# a\n# b\n",
    "remark_behind": first(label="0 # why"),
    "header_remark": "#a,b,c,d,label\n1,2,3,4,0\n",
    "open_mark": first("'1", rest=good["single_quotes.csv"]),
    "inner_mark": first("1'5", rest=good["single_quotes.csv"]),
    "marks_kept": 'a,b,c,d,label\n"1",2,3,4,0\n',
    # several files
    "other-1": plain,
    "other-2": plain.replace("a,b,", "b,a,", 1),
    "wide-1": plain,
    "wide-2": "a,b,\"name, long\",d,label,more\n1,2,3,4,0,5\n",
    "empty-1": plain,
    "empty-2": "",
    "ragged-1": plain,
    "ragged-2": plain + "1,2,3\n",
    "wrong-1": plain,
    "wrong-2": first("x"),
    "long-1": good["headless-1.csv"],
    "long-2": "1,2,3,4,0,5\n",
}
for name, text in hostile.items():
    (folder / f"h_{name}.csv").write_text(text, newline="", encoding="utf-8")
