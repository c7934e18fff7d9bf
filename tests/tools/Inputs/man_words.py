"""Every subcommand and option that `heddle help` and `heddle help SUBCOMMAND` list is in the page: python3 man_words.py PAGE"""
import re
import subprocess
import sys

page = open(sys.argv[1]).read().replace("\\-", "-")
listed = subprocess.run(["heddle", "help"], capture_output=True, text=True, check=True).stdout
commands = re.findall(r"^  ([a-z]+)\b", listed.split("Subcommands:")[1], re.M)
assert len(commands) >= 14, commands
for command in commands:
    part = re.search(rf"^\.SS heddle {command}\b(.*?)(?=^\.S[SH])", page, re.M | re.S)
    assert part, f"no part of {command}"
    text = subprocess.run(["heddle", "help", command], capture_output=True, text=True, check=True).stdout
    for option in re.findall(r"^  (?:-[a-z],)?(--[a-z][a-z-]*)", text, re.M):
        assert option == "--help" or f"\\fB{option}\\fR" in part[1], f"{command}: no {option}"
