#include "tools/completion/completion.h"

#include <algorithm>

#include "ir/check.h"

namespace heddle::tools {

const std::vector<std::string>& completed_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(const CommandLine& line, const std::string& shell) {
  if (shell == "bash") return bash_completion(line);
  if (shell == "zsh") return zsh_completion(line);
  HEDDLE_CHECK(shell == "fish", "the command line takes only shells that are known");
  return fish_completion(line);
}

std::vector<std::string> dashed_names(const OptionWords& option) {
  std::vector<std::string> names;
  if (!option.name.starts_with('-')) return names;
  for (size_t begin = 0; begin <= option.name.size();) {
    const size_t end = std::min(option.name.find(',', begin), option.name.size());
    names.push_back(option.name.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

const OptionWords* positional(const CommandWords& command) {
  const auto found =
      std::ranges::find_if(command.options, [](const OptionWords& o) { return !o.name.starts_with('-'); });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> values_of(const CommandLine& line, const CommandWords& command, const OptionWords& option) {
  if (command.name == "help" && !option.name.starts_with('-')) return command_names(line);
  return option.values ? option.values() : std::vector<std::string>();
}

std::vector<std::string> command_names(const CommandLine& line) {
  std::vector<std::string> names;
  for (const CommandWords& command : line.words()) {
    names.push_back(command.name);
    if (!command.alias.empty()) names.push_back(command.alias);
  }
  return names;
}

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace heddle::tools
