// What shells complete of the command line, as a script for each shell, made from the command line's own words:
// subcommands, options, what a value may be, and where a value names a file, a folder or a model.
//
//   completion_script(line, "bash") -> "_heddle() {\n  local word=${COMP_WORDS[COMP_CWORD]} ..."
//
// Scripts execute nothing of heddle; a model's name is looked for where heddle looks for it.
#pragma once
#include <string>
#include <vector>

#include "tools/command/command_line.h"

namespace heddle::tools {

const std::vector<std::string>& completed_shells();
std::string completion_script(const CommandLine& line, const std::string& shell);  // one of these

std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string fish_completion(const CommandLine& line);

// "-o,--out" -> "-o", "--out"; of what is given by position nothing.
std::vector<std::string> dashed_names(const OptionWords& option);
// The one that a subcommand takes by position; nullptr: none.
const OptionWords* positional(const CommandWords& command);
// "help" and the subcommands that it may be asked for.
std::vector<std::string> values_of(const CommandLine& line, const CommandWords& command, const OptionWords& option);
std::vector<std::string> command_names(const CommandLine& line);  // aliases, too
std::string single_quoted(const std::string& text);               // for all three shells

}  // namespace heddle::tools
