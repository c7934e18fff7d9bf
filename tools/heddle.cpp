// heddle: the command line. Results on stdout, everything for people on stderr.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "ir/diagnostic.h"
#include "tools/commands.h"

namespace {

using heddle::ExitCode;

// The subcommand the words name, or nullptr.
const CLI::App* named_command(const CLI::App& app, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    for (const CLI::App* sub : app.get_subcommands([&](const CLI::App* s) { return s->get_name() == argv[i]; }))
      return sub;
    return nullptr;
  }
  return nullptr;
}

// What a misspelt flag or subcommand may have been.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = named_command(app, argc, argv);
  std::vector<std::string> known;
  if (!command) {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(sub->get_name());
    for (int i = 1; i < argc; ++i)
      if (argv[i][0] != '-') return heddle::did_you_mean(argv[i], known);
  }
  for (const CLI::Option* option : (command ? command : &app)->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), word) != known.end()) continue;
    return heddle::did_you_mean(word, known);
  }
  return {};
}

int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::string message = error.what();
  if (argc > 1 && !named_command(app, argc, argv) && argv[1][0] != '-')
    message = "unknown subcommand '" + std::string(argv[1]) + "'";
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  const std::string meant = suggestion(app, argc, argv);
  std::fprintf(stderr, "heddle: error: %s\n", message.c_str());
  if (!meant.empty()) std::fprintf(stderr, "help: %s\n", meant.c_str());
  std::fprintf(stderr, "help: heddle --help lists the subcommands, heddle SUBCOMMAND --help their options\n");
  return static_cast<int>(ExitCode::usage);
}

int run(int argc, char** argv) {
  CLI::App app{"Heddle compiles models described in JSON to one program per training step, and runs it."};
  int status = 0;
  app.name("heddle");
  app.set_version_flag("--version", "heddle " HEDDLE_VERSION);
  app.require_subcommand(1);
  heddle::tools::add_train(app, status);
  heddle::tools::add_eval(app, status);
  heddle::tools::add_check(app);
  heddle::tools::add_compile(app);
  heddle::tools::add_inspect(app);
  heddle::tools::add_bench(app);
  heddle::tools::add_ops(app);
  heddle::tools::add_doctor(app);
  heddle::tools::add_opt(app);
  heddle::tools::add_evaluate(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const heddle::UserError& error) {
    std::fputs(error.what(), stderr);  // rendered when it was made: the file it points into is gone by now
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fputs("heddle: error: out of memory\n", stderr);
    return static_cast<int>(ExitCode::limit);
  }
}
