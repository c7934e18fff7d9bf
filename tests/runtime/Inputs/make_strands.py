"""make_strands.py FOLDER: a text of 160 characters, of which the first 8 of 10 give 4 strands of 6 windows of 5; its windows as ids behind
one named token are x.npy."""
import struct
import sys

WORDS = ["rain", "falls", "on", "hills", "and", "the", "sea", "is", "full", "of", "it"]
folder, number, words = sys.argv[1], 1, []
for _ in range(60):
    number = number * 1103515245 % 2147483647
    words.append(WORDS[number % len(WORDS)])
text = " ".join(words)[:160]
open(folder + "/t.txt", "w").write(text)

alphabet = sorted(set(text))
assert len(alphabet) == 14
ids = [1 + alphabet.index(c) for c in text[:125]]
head = "{'descr': '<i4', 'fortran_order': False, 'shape': (25, 5), }".ljust(117) + "\n"
with open(folder + "/x.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<125i", *ids))
