"""Sends a signal to a training once its log tells of an epoch: interrupt.py SIGNAL LOG heddle train ...; prints its exit code."""
import pathlib
import signal
import subprocess
import sys
import time

number = getattr(signal, sys.argv[1])
log = pathlib.Path(sys.argv[2])
log.unlink(missing_ok=True)
# A signal that whoever runs the tests ignores would be ignored by the training, too.
process = subprocess.Popen(sys.argv[3:] + ["--log", log], stderr=subprocess.DEVNULL,
                           preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
try:
    while process.poll() is None and not (log.exists() and "epoch" in log.read_text()):
        time.sleep(0.02)
    process.send_signal(number)
    print("code", process.wait(timeout=60), flush=True)
finally:
    process.kill()
