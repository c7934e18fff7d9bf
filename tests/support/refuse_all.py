"""Trains a model on each of many damaged files: refuse_all.py SECONDS MODEL TABLE [SETTING...]

Lines of TABLE that hold ` ==> ` say which settings and which error: `data.train.x=cut.npy ==> cut.npy: truncated`. Each run must
end as refused.py demands, with that text in a line that begins with the model's place and `error:`.
"""
import pathlib
import subprocess
import sys

seconds, model, table, *settings = sys.argv[1:]
refused = pathlib.Path(__file__).with_name("refused.py")
count, failed = 0, 0
for line in pathlib.Path(table).read_text().splitlines():
    if " ==> " not in line:
        continue
    given, message = line.split(" ==> ")
    words = [w for s in [*settings, *given.split(" & ")] for w in ("--set", s.strip())]
    run = subprocess.run([sys.executable, str(refused), seconds, "heddle", "train", model, *words], capture_output=True, text=True, errors="replace")
    said = [x for x in (run.stdout + run.stderr).splitlines() if ": error: " in x]
    count += 1
    if run.returncode != 0 or not any(message.strip() in x for x in said):
        failed += 1
        print(f"{given}: expected '{message.strip()}', exit {run.returncode}:\n{run.stdout}{run.stderr}")
print(f"{count} files, {failed} not refused as they should be")
sys.exit(1 if failed or count == 0 else 0)
