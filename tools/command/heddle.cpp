// heddle: the command line. Results go to stdout, messages for people to stderr.
#include "tools/api/heddle.h"

#include <new>
#include <system_error>

#include "ir/diagnostic.h"
#include "runtime/host/heap.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"
#include "tools/command/signals.h"

namespace heddle::tools {
namespace {

int run(int argc, char** argv) {
  watch_signals();
  CommandLine line("Heddle compiles models described in JSON to one program per training step, and runs it.",
                   "heddle " HEDDLE_VERSION);
  add_train(line);
  add_sweep(line);
  add_eval(line);
  add_predict(line);
  add_generate(line);
  add_check(line);
  add_compile(line);
  add_package(line);
  add_quantize(line);
  add_summary(line);
  add_inspect(line);
  add_merge(line);
  add_bench(line);
  add_profile(line);
  add_tune(line);
  add_tokenize(line);
  add_ops(line);
  add_schema(line);
  add_doctor(line);
  add_completion(line);
  add_opt(line);
  return line.parse(argc, argv);
}

int run_and_explain(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    write_note(error.what());  // rendered when it was made: the file it points into is gone by now
    return static_cast<int>(error.code());
  } catch (const Error& error) {
    write_note(error.what());
    return error.code();
  } catch (const std::bad_alloc&) {
    write_note("heddle: error: out of memory\n");
    return static_cast<int>(ExitCode::limit);
  } catch (const std::system_error& error) {  // a thread that the system does not give
    print_note("heddle: error: {}\n", error.what());
    return static_cast<int>(ExitCode::limit);
  }
}

}  // namespace
}  // namespace heddle::tools

int main(int argc, char** argv) {
  heddle::runtime::use_small_object_heap();
  heddle::tools::open_standard_streams();
  return heddle::tools::finish_output(heddle::tools::run_and_explain(argc, argv));
}
