"""Runs a command with its standard error on a terminal of so many columns, prints what arrives there, and ends as it does:
python3 in_terminal.py COLUMNS COMMAND..."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

leader, follower = pty.openpty()
fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
process = subprocess.Popen(sys.argv[2:], stderr=follower, stdin=subprocess.DEVNULL)
os.close(follower)
text = b""
while True:
    try:
        part = os.read(leader, 65536)
    except OSError:  # the terminal has no other end any more
        break
    if not part:
        break
    text += part
sys.stdout.write(text.decode().replace("\r\n", "\n").replace("\r", "\n<renewed>"))
sys.exit(process.wait())
