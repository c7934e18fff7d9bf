#include "tools/command/model_arguments.h"

#include <algorithm>

#include "tools/command/byte_count.h"
#include "tools/command/command_line.h"
#include "tools/command/output.h"
#include "tools/command/read_file.h"

namespace heddle::tools {
namespace {

// The overrides that the short forms stand for; they come after those of --set.
std::vector<frontend::ShortForm> short_forms(const ModelArguments& a) {
  std::vector<frontend::ShortForm> forms = {{"--epochs", "train.epochs", a.epochs},
                                            {"--lr", "train.optimizer.lr", a.lr},
                                            {"--batch", "train.batch", a.batch},
                                            {"--seed", "train.seed", a.seed}};
  std::erase_if(forms, [](const frontend::ShortForm& form) { return form.value.empty(); });
  return forms;
}

}  // namespace

void add_model_arguments(Command& command, ModelArguments& a, ShortForms forms) {
  command.add_option("model", a.model, "a model file, the name of one in models/, or - for standard input")
      .takes(Takes::model)
      .required();
  if (forms == ShortForms::all) {
    command.add_option("--epochs", a.epochs, "short for --set train.epochs=");
    command.add_option("--lr", a.lr, "short for --set train.optimizer.lr=");
    command.add_option("--batch", a.batch, "short for --set train.batch=");
    command.add_option("--seed", a.seed, "short for --set train.seed=");
    add_plan_arguments(command, a);
  }
  command.add_option("--set", a.set, "override a value: --set train.optimizer.lr=3e-4");
  command.add_flag("--small", a.small, "apply the model's own \"small\" overrides");
  command.add_option("--memory-limit", a.memory_limit,
                     "memory that a program may take, \"300MiB\", or GiB (default: the target's)");
}

void add_plan_arguments(Command& command, ModelArguments& a) {
  command
      .add_option("--libraries", a.libraries,
                  "libraries that a GPU's calls go to: cublaslt (products), cudnn (convolutions), or cublaslt,cudnn "
                  "(default: none, every kernel is generated)")
      .list_of({"cublaslt", "cudnn"});
  command.add_option("--choices", a.choices, "a table of measured choices of kernels, which heddle tune wrote")
      .takes(Takes::file);
}

void add_fold_argument(Command& command, ModelArguments& a) {
  command.add_flag("--fold-norms", a.fold_norms,
                   "predictions take each batch norm into the weights of the product before it: faster, and equal to "
                   "evaluation up to rounding only (default: the same bits)");
}

frontend::ReadOptions read_options(const ModelArguments& a, const std::vector<std::string>& first_set) {
  frontend::ReadOptions options{.set = first_set, .small = a.small, .short_forms = short_forms(a)};
  options.set.insert(options.set.end(), a.set.begin(), a.set.end());
  return options;
}

void read(const ModelArguments& a, driver::ReadModel& into, const std::vector<std::string>& first_set) {
  driver::read_model(into, a.model, read_options(a, first_set));
}

int64_t memory_bytes(const ModelArguments& a) {
  return a.memory_limit.empty() ? 0 : byte_count(a.memory_limit, "--memory-limit");
}

driver::GpuLibraries gpu_libraries(const std::string& list) { return driver::libraries_named(words_of_list(list)); }

driver::Choices read_choices(const std::string& path) {
  if (path.empty()) return {};
  const SourceFile file = read_file(path, driver::kMostChoicesBytes);
  return driver::read_choices(file);
}

driver::CompileOptions compile_options(const ModelArguments& a) {
  return {.memory_bytes = memory_bytes(a),
          .libraries = gpu_libraries(a.libraries),
          .fold_norms = a.fold_norms,
          .choices = read_choices(a.choices),
          .tell = [](const std::string& line) { print_note("{}\n", line); }};
}

void compute_in_f32(ModelArguments& a) {
  a.set.emplace_back("train.precision=null");
  a.int8 = false;
}

void print_warnings(const frontend::TrainingPlan& plan) {
  for (const Diagnostic& warning : plan.warnings) write_note(render(warning));
}

}  // namespace heddle::tools
