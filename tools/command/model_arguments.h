// ModelArguments: the model of a subcommand, and the options that change it.
//
//   heddle check mnist_cnn --set train.batch=32 --small
#pragma once
#include <string>
#include <vector>

#include "tools/driver/compile.h"
#include "tools/driver/model_file.h"

namespace heddle::tools {

class Command;

// The arguments that every subcommand with a model has.
struct ModelArguments {
  std::string model;  // a path, or the name of a file in models/
  std::vector<std::string> set;
  std::string epochs, lr, batch, seed;  // short forms of --set; empty: not given
  bool small = false;
  std::string libraries;     // for a GPU: "cublaslt,cudnn"; empty: none
  bool int8 = true;          // int8 weights may be multiplied as integers
  bool fold_norms = false;   // predictions fold norms into the weights before them
  std::string choices;       // file of a table that `heddle tune` wrote; empty: none
  std::string memory_limit;  // "300MiB": limit for a program; empty: the target's memory
};
enum class ShortForms { all, none };  // --epochs, --lr, --batch and --seed
void add_model_arguments(Command& command, ModelArguments& a, ShortForms forms = ShortForms::all);
// Adds --libraries and --choices. ShortForms::all also adds these.
void add_plan_arguments(Command& command, ModelArguments& a);
// Adds --fold-norms, for commands that predict.
void add_fold_argument(Command& command, ModelArguments& a);

frontend::ReadOptions read_options(const ModelArguments& a, const std::vector<std::string>& first_set = {});
void read(const ModelArguments& a, driver::ReadModel& into, const std::vector<std::string>& first_set = {});
// The value of --memory-limit; 0 where it is not given. Throws UserError (exit 2) where it is not a number of bytes.
int64_t memory_bytes(const ModelArguments& a);
// The libraries that a list of --libraries names; "": none.
driver::GpuLibraries gpu_libraries(const std::string& list);
// Reads the table of --choices; empty where none is given. Throws UserError at its first error.
driver::Choices read_choices(const std::string& path);
// Makes options from the arguments; the other fields keep the defaults of driver::CompileOptions. Notes about
// assumptions go to standard error.
driver::CompileOptions compile_options(const ModelArguments& a);

// Applies --precision f32.
void compute_in_f32(ModelArguments& a);

// Prints the warnings of a plan on standard error.
void print_warnings(const frontend::TrainingPlan& plan);

}  // namespace heddle::tools
