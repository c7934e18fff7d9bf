// zsh: what _arguments is to know of each subcommand.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/completion/completion.h"

namespace heddle::tools {
namespace {

constexpr const char* kHead = R"zsh(#compdef heddle
# Completion of heddle {0} for zsh, made from its command line: heddle completion zsh

# Names of models, in the working folder and beside the program, and files that may be models.
_heddle_models() {{
  local -a names
  local program=${{commands[heddle]:A}}
  names=(models/*.json(N:t:r) ${{program:h:h}}/share/heddle/models/*.json(N:t:r))
  _alternative 'models:model:compadd -a names' 'files:file:_files -g "*.(json|hir|heddle)"'
}}

_heddle() {{
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a subcommands=(
{1}  )
  _arguments -C '(- *)'{{-h,--help}}'[print the help]' '(- *)'{{-V,--version}}'[print the version]' \
    '1: :->subcommand' '*:: :->argument'
  case $state in
    subcommand) _describe subcommand subcommands ;;
    argument)
      case $words[1] in
)zsh";

constexpr const char* kTail = R"zsh(      esac ;;
  esac
}
if [[ $funcstack[1] == _heddle ]]; then _heddle "$@"; else compdef _heddle heddle; fi
)zsh";

// What stands between brackets or colons of a specification.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action(const CommandLine& line, const CommandWords& command, const OptionWords& option) {
  if (const auto values = values_of(line, command, option); !values.empty())
    return fmt::format("({})", fmt::join(values, " "));
  switch (option.takes) {
    case Takes::anything: return " ";
    case Takes::file: return "_files";
    case Takes::folder: return "_files -/";
    case Takes::model: return "_heddle_models";
  }
  return " ";
}

std::string specifications(const CommandLine& line, const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) {
    const std::string takes = option.flag ? "" : ":value:" + action(line, command, option);
    const std::vector<std::string> names = dashed_names(option);
    const std::string others =
        names.size() > 1 && !option.repeated ? fmt::format("({})", fmt::join(names, " ")) : std::string();
    for (const std::string& name : names) {
      const char* joined = option.flag ? "" : name.starts_with("--") ? "=" : "+";
      out += fmt::format(" \\\n            {}",
                         single_quoted(fmt::format("{}{}{}{}[{}]{}", others, option.repeated ? "*" : "", name, joined,
                                                   escaped(option.help), takes)));
    }
    if (names.empty())
      out += fmt::format(" \\\n            {}",
                         single_quoted(fmt::format("{}:{}:{}", option.repeated ? "*" : "1", escaped(option.name),
                                                   action(line, command, option))));
  }
  return out;
}

}  // namespace

std::string zsh_completion(const CommandLine& line) {
  std::string subcommands, cases;
  for (const CommandWords& command : line.words()) {
    for (const std::string& name : {command.name, command.alias})
      if (!name.empty()) subcommands += fmt::format("    {}\n", single_quoted(name + ":" + escaped(command.help)));
    cases += fmt::format("        {}{})\n          _arguments '(- *)'{{-h,--help}}'[print the help]'{} ;;\n",
                         command.name, command.alias.empty() ? "" : "|" + command.alias, specifications(line, command));
  }
  return fmt::format(kHead, HEDDLE_VERSION, subcommands) + cases + kTail;
}

}  // namespace heddle::tools
