// heddle: the command line. Results on stdout, everything for people on stderr.
#include <cstdio>
#include <new>

#include "ir/diagnostic.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"

namespace heddle::tools {
namespace {

int run(int argc, char** argv) {
  CommandLine line("Heddle compiles models described in JSON to one program per training step, and runs it.",
                   "heddle " HEDDLE_VERSION);
  add_train(line);
  add_eval(line);
  add_check(line);
  add_compile(line);
  add_inspect(line);
  add_bench(line);
  add_ops(line);
  add_doctor(line);
  add_opt(line);
  add_evaluate(line);
  return line.parse(argc, argv);
}

}  // namespace
}  // namespace heddle::tools

int main(int argc, char** argv) {
  try {
    return heddle::tools::run(argc, argv);
  } catch (const heddle::UserError& error) {
    std::fputs(error.what(), stderr);  // rendered when it was made: the file it points into is gone by now
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fputs("heddle: error: out of memory\n", stderr);
    return static_cast<int>(heddle::ExitCode::limit);
  }
}
