"""A run's folder is moved while it goes on, and another run begins under its name: python3 moved.py FOLDER HEDDLE..."""
import os
import signal
import subprocess
import sys
import time

os.chdir(sys.argv[1])


def start():
    process = subprocess.Popen(sys.argv[2:] + ["--run", "one"], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("epoch "):
            return process
    raise SystemExit("it ended")


def end(process, folder):
    """Ends it, whose messages are read all the time: a full pipe would stop it."""
    process.send_signal(signal.SIGTERM)
    text = "".join(line for line in process.stderr if not line.startswith("epoch "))
    print(process.wait(), text.strip().rsplit(" ", 1)[-1].rsplit("/", 1)[-1], sorted(os.listdir(folder))[-3:],
          sum(name.startswith("checkpoint-") for name in os.listdir(folder)))


first = start()
os.rename("one", "old")
second = start()
end(first, "old")
print(sorted(name for name in os.listdir("one") if name.startswith(("checkpoint-", "last"))))
end(second, "one")
