"""Every subcommand and option that the help names is in the scripts: completion_words.py HEDDLE BASH ZSH FISH"""
import re
import subprocess
import sys

heddle, bash, zsh, fish = sys.argv[1], *(open(path).read() for path in sys.argv[2:])


def help_of(*words):
    return subprocess.run([heddle, "help", *words], check=True, capture_output=True, text=True).stdout


commands = re.findall(r"^  ([a-z]+)[, ]", help_of().split("Subcommands:")[1], re.M)
options = 0
for command in commands:
    own_bash = re.search(rf"^    {command}(?: \| \w+)?\)\n(.*?)^      ;;", bash, re.M | re.S)[1]
    own_zsh = re.search(rf"^        {command}(?:\|\w+)?\)\n(.*?) ;;$", zsh, re.M | re.S)[1]
    own_fish = "\n".join(re.findall(rf"^complete -c heddle -n '__fish_seen_subcommand_from {command}[ '].*", fish, re.M))
    for name in re.findall(r"^  (?:-\w,)?--([a-z-]+)", help_of(command), re.M):
        options += 1
        assert re.search(rf"--{name}\b(?!-)", own_bash), (command, name, "bash")
        assert re.search(rf"--{name}\b(?!-)", own_zsh), (command, name, "zsh")
        assert name == "help" or re.search(rf" -l {name} ", own_fish), (command, name, "fish")
assert all(f" -a {c} -d " in fish and f"'{c}:" in zsh for c in commands)
print(f"{len(commands)} subcommands, {options} options")
