// The subcommands of heddle: each adds itself, with its options, to the command line.
#pragma once

namespace CLI {
class App;
}

namespace heddle::tools {

void add_evaluate(CLI::App& app);
void add_opt(CLI::App& app);

}  // namespace heddle::tools
