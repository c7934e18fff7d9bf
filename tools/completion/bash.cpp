// bash: one function, which readline calls with the words of the line. It needs nothing but bash itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "tools/completion/completion.h"

namespace heddle::tools {
namespace {

constexpr const char* kHead = R"(# Completion of heddle {0} for bash, made from its command line: heddle completion bash
_heddle_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }}

# Names of models, in the working folder and beside the program, and files that may be models.
_heddle_models() {{
  local program folder file
  program=$(type -P -- "$1") && program=$(readlink -f -- "$program")
  for folder in models "${{program%/*/*}}/share/heddle/models"; do
    for file in "$folder/$2"*.json; do
      [[ ! -e $file ]] || {{ file=${{file##*/}} && COMPREPLY+=("${{file%.json}}"); }}
    done
  done
  compopt -o filenames
  mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -f -X '!*.json' -- "$2"; compgen -f -X '!*.hir' -- "$2"; compgen -f -X '!*.heddle' -- "$2"; compgen -d -- "$2")
}}

_heddle() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command='' options='' i
  COMPREPLY=()
  # bash takes --emit=plan for three words
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}} && break; }}
  done
  case $command in
    '')
      _heddle_words '{1} -h --help -V --version' "$word"
      return ;;
)";

constexpr const char* kTail = R"(  esac
  [[ $word != -* ]] || _heddle_words "$options" "$word"
}
complete -F _heddle heddle
)";

// Names of files and folders are readline's own business: it knows about quotes and ~.
std::string action(const CommandLine& line, const CommandWords& command, const OptionWords& option) {
  if (const auto values = values_of(line, command, option); !values.empty())
    return fmt::format("_heddle_words '{}' \"$word\"", fmt::join(values, " "));
  switch (option.takes) {
    case Takes::anything: return ":";
    case Takes::file: return "compopt -o default";
    case Takes::folder: return "compopt -o dirnames";
    case Takes::model: return "_heddle_models \"$1\" \"$word\"";
  }
  return ":";
}

std::string case_of(const CommandLine& line, const CommandWords& command) {
  std::vector<std::string> flags = {"-h", "--help"};
  std::map<std::string, std::vector<std::string>> by_action;  // the options of each
  for (const OptionWords& option : command.options) {
    for (const std::string& name : dashed_names(option)) {
      flags.push_back(name);
      if (!option.flag) by_action[action(line, command, option)].push_back(name);
    }
  }
  std::string out = fmt::format("    {}{})\n      options='{}'\n", command.name,
                                command.alias.empty() ? "" : " | " + command.alias, fmt::join(flags, " "));
  if (!by_action.empty()) out += "      case $before in\n";
  for (const auto& [what, names] : by_action)
    out += fmt::format("        {}) {}; return ;;\n", fmt::join(names, " | "), what);
  if (!by_action.empty()) out += "      esac\n";
  if (const OptionWords* given = positional(command))
    out += fmt::format("      [[ $word == -* ]] || {}\n", action(line, command, *given));
  return out + "      ;;\n";
}

}  // namespace

std::string bash_completion(const CommandLine& line) {
  std::string out = fmt::format(kHead, HEDDLE_VERSION, fmt::join(command_names(line), " "));
  for (const CommandWords& command : line.words()) out += case_of(line, command);
  return out + kTail;
}

}  // namespace heddle::tools
