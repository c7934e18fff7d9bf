"""folded.py rows FILE N: lines of JSON with N drawn pictures; folded.py compare A B: the largest difference of results in
lines of JSON over their largest number, and whether they are the same text."""
import json
import random
import sys

if sys.argv[1] == "rows":
    draw = random.Random(7)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for _ in range(int(sys.argv[3])):
            out.write(json.dumps({"image": [round(draw.random(), 3) for _ in range(28 * 28)]}) + "\n")
else:
    texts = [open(path, encoding="utf-8").read() for path in sys.argv[2:4]]
    a, b = ([x for line in text.splitlines() for x in json.loads(line)["logits"]] for text in texts)
    assert len(a) == len(b) > 0
    difference = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, a))
    print("the same text" if texts[0] == texts[1] else "other text", "within 1e-5" if difference < 1e-5 else difference)
