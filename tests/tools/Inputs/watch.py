#!/usr/bin/env python3
"""Runs a command with its standard error on a terminal or in a pipe, and prints what arrived there and the exit code.

    watch.py terminal|pipe [--ignore=HUP] [--signal=INT|TERM|HUP]... COMMAND...

A carriage return is printed as <cr>, the sequence that clears to the end of the line as <clear>. The signals are sent once the first
epoch is reported; --ignore lets the command ignore one from its start, as nohup does. What does not end within a minute is an error.
"""
import os
import pty
import signal
import subprocess
import sys
import threading


def main():
    where, command = sys.argv[1], sys.argv[2:]
    signals = []
    while command[0].startswith("--"):
        option, name = command.pop(0).split("=")
        number = getattr(signal, "SIG" + name)
        # The command inherits what is ignored; lit lets its tests ignore SIGINT.
        signal.signal(number, signal.SIG_IGN if option == "--ignore" else signal.SIG_DFL)
        if option == "--signal":
            signals.append(number)
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
        if b"epoch 1" in seen:
            for number in signals:
                process.send_signal(number)
            signals = []
    code = process.wait()
    watchdog.cancel()
    # A terminal turns each line's end into carriage return and line feed.
    text = seen.decode().replace("\r\n", "\n").replace("\r", "<cr>").replace("\x1b[K", "<clear>")
    print(text, end="")
    print("exit", code)


main()
