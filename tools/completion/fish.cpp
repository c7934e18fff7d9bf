// fish: a line for each subcommand and option.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/completion/completion.h"

namespace heddle::tools {
namespace {

constexpr const char* kHead = R"(# Completion of heddle {} for fish, made from its command line: heddle completion fish

# Names of models, in the working folder and beside the program.
function __heddle_models
    set -l program (realpath (command -s heddle))
    for file in models/*.json (dirname (dirname $program))/share/heddle/models/*.json
        string replace -r '\.json$' '' (basename $file)
    end
end

complete -c heddle -f
complete -c heddle -s h -l help -d 'print the help'
complete -c heddle -n __fish_use_subcommand -s V -l version -d 'print the version'
)";

// What stands behind an option, or without a name by position.
std::string action(const CommandLine& line, const CommandWords& command, const OptionWords& option) {
  // -x: a value that is no file. With -r alone fish offers the files of the folder, too.
  const bool file = option.takes == Takes::file || option.takes == Takes::model;
  const char* required = !option.name.starts_with('-') ? "" : file ? " -r" : " -x";
  if (const auto values = values_of(line, command, option); !values.empty())
    return fmt::format("{} -a '{}'", required, fmt::join(values, " "));
  switch (option.takes) {
    case Takes::anything: return required;
    case Takes::file: return fmt::format("{} -F", required);
    case Takes::folder: return fmt::format("{} -a '(__fish_complete_directories)'", required);
    case Takes::model: return " -F -a '(__heddle_models)'";
  }
  return required;
}

std::string option_line(const CommandLine& line, const CommandWords& command, const OptionWords& option) {
  const std::string names = command.alias.empty() ? command.name : command.name + " " + command.alias;
  std::string out = fmt::format("complete -c heddle -n '__fish_seen_subcommand_from {}'", names);
  for (const std::string& name : dashed_names(option))
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.flag) out += action(line, command, option);
  if (option.name.starts_with('-')) out += " -d " + single_quoted(option.help);
  return out + "\n";
}

}  // namespace

std::string fish_completion(const CommandLine& line) {
  std::string out = fmt::format(kHead, HEDDLE_VERSION);
  for (const CommandWords& command : line.words()) {
    for (const std::string& name : {command.name, command.alias})
      if (!name.empty())
        out +=
            fmt::format("complete -c heddle -n __fish_use_subcommand -a {} -d {}\n", name, single_quoted(command.help));
    for (const OptionWords& option : command.options) out += option_line(line, command, option);
  }
  return out;
}

}  // namespace heddle::tools
