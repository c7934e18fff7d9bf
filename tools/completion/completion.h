// Makes a completion script for each shell from the definitions of the command line. Scripts complete subcommands,
// options, values, and names of files, folders and models.
//
//   completion_script(line, "bash") -> "_heddle() {\n  local word=${COMP_WORDS[COMP_CWORD]} ..."
//
// Scripts do not run heddle. They look for models where heddle looks.
#pragma once
#include <string>
#include <vector>

#include "tools/command/command_line.h"

namespace heddle::tools {

const std::vector<std::string>& completed_shells();
std::string completion_script(const CommandLine& line, const std::string& shell);  // `shell`: one of these

std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string fish_completion(const CommandLine& line);

// "-o,--out" -> "-o", "--out"; nothing for a positional argument.
std::vector<std::string> dashed_names(const OptionWords& option);
// The positional argument of a subcommand; nullptr: none.
const OptionWords* positional(const CommandWords& command);
// The possible values of an option; for "help", the subcommands.
std::vector<std::string> values_of(const CommandLine& line, const CommandWords& command, const OptionWords& option);
std::vector<std::string> command_names(const CommandLine& line);  // aliases, too
std::string single_quoted(const std::string& text);               // for all three shells

}  // namespace heddle::tools
