# What bash would complete: complete.sh SCRIPT WORD...      the last word is the one that TAB stands behind
source "$1"
shift
compopt() { echo "compopt $*"; }  # bash has it only while it completes
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_heddle heddle
((${#COMPREPLY[@]} == 0)) || echo "${COMPREPLY[@]}"
