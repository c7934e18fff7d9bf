// The subcommands of heddle: each adds itself, with its options, to the command line.
//
// A subcommand's arguments are held by shared_ptr, which the project uses nowhere else: they live as long as the
// callback, and CLI11 copies that.
#pragma once
#include <string>

namespace CLI {
class App;
}

namespace heddle::tools {

// `status` receives the exit code of commands that can end in more than one way without an error.
void add_bench(CLI::App& app);
void add_check(CLI::App& app);
void add_compile(CLI::App& app);
void add_doctor(CLI::App& app);
void add_eval(CLI::App& app, int& status);
void add_evaluate(CLI::App& app);
void add_inspect(CLI::App& app);
void add_ops(CLI::App& app);
void add_opt(CLI::App& app);
void add_train(CLI::App& app, int& status);

// Seconds since the process was started by the system.
double process_seconds();

}  // namespace heddle::tools
