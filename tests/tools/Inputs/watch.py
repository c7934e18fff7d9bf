#!/usr/bin/env python3
"""Runs a command with its standard error on a terminal or in a pipe, and prints what arrived there and the exit code.

    watch.py terminal|pipe [--signal=INT|TERM] COMMAND...

A carriage return is printed as <cr>, the sequence that clears to the end of the line as <clear>. The signal is sent once the first epoch
is reported. What does not end within a minute is an error.
"""
import os
import pty
import signal
import subprocess
import sys
import threading


def main():
    where, command = sys.argv[1], sys.argv[2:]
    number = getattr(signal, "SIG" + command.pop(0)[9:]) if command[0].startswith("--signal=") else None
    reader, writer = pty.openpty() if where == "terminal" else os.pipe()
    process = subprocess.Popen(command, stderr=writer)
    os.close(writer)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    seen = b""
    while True:
        try:
            part = os.read(reader, 4096)
        except OSError:  # a terminal whose other side is closed
            break
        if not part:
            break
        seen += part
        if number is not None and b"epoch 1" in seen:
            process.send_signal(number)
            number = None
    code = process.wait()
    watchdog.cancel()
    # A terminal turns each line's end into carriage return and line feed.
    text = seen.decode().replace("\r\n", "\n").replace("\r", "<cr>").replace("\x1b[K", "<clear>")
    print(text, end="")
    print("exit", code)


main()
