// heddle completion SHELL: what a shell reads to complete this command line.
#include "tools/completion/completion.h"

#include <memory>

#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"

namespace heddle::tools {

void add_completion(CommandLine& line) {
  Command command = line.add_subcommand("completion", "print a script for completion in bash, zsh or fish");
  const auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, zsh or fish").one_of(completed_shells()).required();
  command.run([&line, shell] { write_result(completion_script(line, *shell)); });
}

}  // namespace heddle::tools
