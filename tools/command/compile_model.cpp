#include "tools/command/compile_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "codegen/lower.h"
#include "codegen/predict.h"
#include "frontend/json.h"
#include "passes/select/onednn.h"
#include "runtime/foreign_file.h"
#include "runtime/host/onednn.h"
#include "runtime/terminal.h"
#include "tools/command/command_line.h"
#include "tools/command/output.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

template <class F>
auto timed(const std::string& name, std::vector<StageTime>* times, F&& f) {
  const double begin = passes::processor_seconds();
  auto result = f();
  if (times) times->push_back({name, passes::processor_seconds() - begin});
  return result;
}

// Where the models that belong to the program lie: ../share/heddle/models of its folder.
std::string models_of_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "models" : (program.parent_path().parent_path() / "share" / "heddle" / "models").string();
}

// The overrides that the short forms stand for; they come after those of --set.
std::vector<frontend::ShortForm> short_forms(const ModelArguments& a) {
  std::vector<frontend::ShortForm> forms = {{"--epochs", "train.epochs", a.epochs},
                                            {"--lr", "train.optimizer.lr", a.lr},
                                            {"--batch", "train.batch", a.batch},
                                            {"--seed", "train.seed", a.seed}};
  std::erase_if(forms, [](const frontend::ShortForm& form) { return form.value.empty(); });
  return forms;
}

std::vector<std::string> names_of_models(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  std::error_code error;
  for (const std::string& folder : folders)
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".json") names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// "mnist_cnn" names models/mnist_cnn.json, in the working folder or beside the program, unless a file of that name is there.
std::string find_model(const std::string& name) {
  std::error_code error;
  const bool path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (path || name == "-" || fs::exists(fs::symlink_status(name, error))) return name;
  const std::vector<std::string> folders{"models", models_of_program()};
  for (const std::string& folder : folders) {
    std::string file = fmt::format("{}/{}.json", folder, name);
    if (fs::exists(file, error)) return file;
  }
  const std::vector<std::string> names = names_of_models(folders);
  std::string help = did_you_mean(name, names);
  if (help.empty()) help = "give the path of a model file";
  if (help.starts_with("give") && !names.empty()) help += fmt::format(", or one of {}", fmt::join(names, " "));
  throw UserError(
      ExitCode::failed,
      fmt::format("cannot read '{}': there is no such file, and no model of this name", runtime::visible(name)), help);
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
  }
  command.add_option("--set", a.set, "override a value: --set train.optimizer.lr=3e-4");
  command.add_flag("--small", a.small, "apply the model's own \"small\" overrides");
  command.add_option("--memory-limit", a.memory_gib, "GiB that a program may take (default: the target's)")
      .between(1, 1 << 20);
}

frontend::ReadOptions read_options(const ModelArguments& a, const std::vector<std::string>& first_set) {
  frontend::ReadOptions options{.set = first_set, .small = a.small, .short_forms = short_forms(a)};
  options.set.insert(options.set.end(), a.set.begin(), a.set.end());
  return options;
}

void read(const ModelArguments& a, ReadModel& into, const std::vector<std::string>& first_set) {
  const frontend::ReadOptions options = read_options(a, first_set);
  into.path = find_model(a.model);
  if (const auto foreign = runtime::foreign_file(into.path, runtime::Wanted::model))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: not a model: it is {}", runtime::visible(into.path), foreign->what),
                    foreign->help);
  into.model = frontend::read_model(into.sources, into.path, options);
}

CompileOptions compile_options(const ModelArguments& a) {
  CompileOptions options;
  options.memory_gib = a.memory_gib;
  return options;
}

void print_warnings(const frontend::TrainingPlan& plan) {
  for (const Diagnostic& warning : plan.warnings) write_note(render(warning));
}

std::vector<passes::AvailableLibrary> libraries() {
  const auto ask_onednn = [](const ir::Graph& kernel) {
    const runtime::OnednnNeeds needs = runtime::onednn_needs(codegen::describe_library(kernel));
    return passes::LibraryAnswer{needs.workspace, needs.refusal};
  };
  return {{&passes::onednn(), ask_onednn}};
}

void run_passes(ir::Module& m, const CompileOptions& options) {
  passes::Options pass_options;
  pass_options.target = options.target;
  pass_options.libraries = libraries();
  pass_options.memory_bytes = int64_t{options.memory_gib} << 30;
  pass_options.remark = options.remark;
  passes::RunOptions run;
  run.to = options.to;
  if (options.after)
    run.after = [&](const passes::Pass& pass, const ir::Module& after, bool) {
      options.after(std::string(pass.name), after);
    };
  for (const passes::PassTime& t : passes::run_pipeline(m, pass_options, run))
    if (options.times) options.times->push_back({t.name, t.seconds});
}

codegen::Program lower_module(const ir::Module& m, const std::string& name, const CompileOptions& options) {
  codegen::Program program =
      timed("lower", options.times, [&] { return codegen::lower(m, name, options.target, options.fed); });
  if (options.predict) timed("predict", options.times, [&] { return codegen::predict(program, m, options.target), 0; });
  return program;
}

ir::Module build(const frontend::Model& model, const frontend::BuildOptions& build, std::vector<StageTime>* times) {
  return timed("build", times, [&] { return frontend::build_module(model, build); });
}

codegen::Program compile_model(const frontend::Model& model, const frontend::BuildOptions& build,
                               const CompileOptions& options) {
  ir::Module m = tools::build(model, build, options.times);
  run_passes(m, options);
  return lower_module(m, model.name, options);
}

}  // namespace heddle::tools
