"""A run's folder is removed while it goes on, which ends some epochs later: python3 removed.py FOLDER HEDDLE..."""
import os
import shutil
import signal
import subprocess
import sys

os.chdir(sys.argv[1])
process = subprocess.Popen(sys.argv[2:] + ["--run", "one"], stderr=subprocess.PIPE, text=True)
epochs = 0
for line in process.stderr:
    if line.startswith("epoch "):
        epochs += 1
        if epochs == 1:
            while os.path.exists("one"):  # a draft may come while it is emptied
                shutil.rmtree("one", ignore_errors=True)
        if epochs == 3:
            process.send_signal(signal.SIGTERM)
    elif line.startswith(("note: ", "error: ", "help: ")) and epochs > 0:
        print(line, end="")
print("exit", process.wait(), os.listdir("."))
