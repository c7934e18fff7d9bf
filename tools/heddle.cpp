// heddle: the command line. Results on stdout, everything for people on stderr.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "ir/diagnostic.h"
#include "tools/commands.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Heddle compiles models described in JSON to one program per training step, and runs it."};
  app.name("heddle");
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  heddle::tools::add_evaluate(app);
  heddle::tools::add_opt(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return static_cast<int>(heddle::ExitCode::usage);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const heddle::UserError& error) {
    std::fputs(error.what(), stderr);
    return static_cast<int>(error.code());
  }
}
