// The model that a subcommand takes, and what its options say of it.
//
//   heddle check mnist_cnn --set train.batch=32 --small
#pragma once
#include <string>
#include <vector>

#include "tools/driver/compile.h"
#include "tools/driver/model_file.h"

namespace heddle::tools {

class Command;

// What every subcommand that takes a model has in common.
struct ModelArguments {
  std::string model;  // a path, or the name of a file in models/
  std::vector<std::string> set;
  std::string epochs, lr, batch, seed;  // short forms of --set; empty: not given
  bool small = false;
  std::string libraries;     // "cublaslt,cudnn": that a GPU's calls go to; empty: none
  bool int8 = true;          // products by int8 weights may be of whole numbers
  bool fold_norms = false;   // norms of predictions go into the weights before them
  std::string choices;       // a table that `heddle tune` wrote; empty: none
  std::string memory_limit;  // "300MiB": that a program may take; empty: what the target has
};
enum class ShortForms { all, none };  // --epochs, --lr, --batch and --seed, which say how to train
void add_model_arguments(Command& command, ModelArguments& a, ShortForms forms = ShortForms::all);
// --libraries and --choices, which ShortForms::all adds, too.
void add_plan_arguments(Command& command, ModelArguments& a);
// --fold-norms, of commands that predict.
void add_fold_argument(Command& command, ModelArguments& a);

frontend::ReadOptions read_options(const ModelArguments& a, const std::vector<std::string>& first_set = {});
void read(const ModelArguments& a, driver::ReadModel& into, const std::vector<std::string>& first_set = {});
// What --memory-limit says; 0 where it is not given. Throws UserError (exit 2) where it is no number of bytes.
int64_t memory_bytes(const ModelArguments& a);
// Those that a list of --libraries names; "": none.
driver::GpuLibraries gpu_libraries(const std::string& list);
// The table of --choices; empty where none is given. Throws UserError at its first fault.
driver::Choices read_choices(const std::string& path);
// What the arguments say, the rest as it stands in driver::CompileOptions. What is assumed is told on standard error.
driver::CompileOptions compile_options(const ModelArguments& a);

// --precision f32.
void compute_in_f32(ModelArguments& a);

// What a plan warns of, on standard error.
void print_warnings(const frontend::TrainingPlan& plan);

}  // namespace heddle::tools
