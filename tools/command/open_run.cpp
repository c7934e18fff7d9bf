#include "tools/command/open_run.h"

#include <fmt/format.h>

#include <utility>

#include "frontend/training/train_step.h"
#include "runtime/process/process_memory.h"
#include "runtime/train/progress.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/quantize.h"
#include "runtime/weights/read_weights.h"
#include "tools/command/command_line.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"
#include "tools/command/resolved_model.h"
#include "tools/driver/class_differences.h"
#include "tools/driver/fit_weights.h"
#include "tools/driver/folds.h"
#include "tools/driver/int8_weights.h"
#include "tools/driver/packaged_model.h"

namespace heddle::tools {
namespace {

// The weights that the run begins with, or goes on from; nullptr: it begins with the initializers.
const runtime::WeightsFile* weights_of(const RunArguments& a, Run& run) {
  if (run.saved != nullptr && run.saved->resumes()) {
    if (!a.weights.empty()) note("the run continues from its checkpoint: --weights is not read");
    return run.saved->file();
  }
  if (!a.weights.empty()) run.weights = read_start(a, run.read.model, /*begins=*/run.saved != nullptr);
  return run.weights ? &*run.weights : nullptr;
}

// The choices of a package, which come with its programs.
driver::Choices read_and_open(const RunArguments& a, Run& run) {
  if (driver::is_package(a.model.model)) {
    driver::require_as_packaged(a.model.libraries, a.model.choices);
    const driver::Package package = driver::read_packaged_model(run.read, a.model.model, read_options(a.model));
    run.device = driver::open_packaged_device(a.device, package);
    return driver::packaged_choices(package, run.device.target.name);
  }
  warn_without_kernel_cache();
  run.device = driver::open_device(a.device);
  read(a.model, run.read);
  return {};
}

}  // namespace

runtime::WeightsFile read_start(const RunArguments& a, const frontend::Model& model, bool begins) {
  runtime::ReadWeights read = runtime::read_weights(a.weights, a.prefix, model.train.stored.has_value());
  if (begins) runtime::require_for_training(read.file);
  if (!read.note.empty()) note(read.note);
  return std::move(read.file);
}

void note(const std::string& text) { print_note("note: {}\n", text); }

void add_run_arguments(Command& command, RunArguments& a) {
  add_model_arguments(command, a.model);
  add_device_arguments(command, a.device);
  command.add_option("--data", a.data, "the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  command.add_flag("--json", a.json, "print one JSON object on standard output");
  command.add_flag("--quiet", a.quiet, "print no progress, only results, warnings, notes and errors");
}

void add_weights_arguments(Command& command, RunArguments& a, const std::string& help) {
  command.add_option("--weights", a.weights, help + "; again: adapters of train.lora").takes(Takes::file);
  command.add_option("--weights-prefix", a.prefix,
                     "remove this from the names of the first file's tensors: \"module.\", \"_orig_mod.\"");
}

// Weights are read, and compared with the program, before the program is loaded: a wrong file is
// found before a minute of compiling.
void open_run(const RunArguments& a, driver::Purpose purpose, Run& run) {
  const bool training = purpose == driver::Purpose::training;
  driver::Choices packaged = read_and_open(a, run);
  if (a.fold > 0)
    if (const std::string told = driver::take_fold(run.read.model, {a.folds, a.fold}); !told.empty()) note(told);
  const frontend::Model& model = run.read.model;
  if (run.saved != nullptr)
    run.saved->choose(resolved_model(*model.file, read_options(a.model)), frontend::needs_length(model));
  driver::SessionOptions options{.purpose = purpose,
                                 .folder = run.read.folder(a.data),
                                 .weights = weights_of(a, run),
                                 .compile = compile_options(a.model)};
  if (training) options.planned = print_warnings;
  if (!training && run.weights) driver::read_as_quantized(run.read.model, *run.weights);
  options.compile.target = run.device.target;
  // A generator of texts, and a step that is done once more, take the weights back from the program, in f32.
  const bool in_f32 = !a.model.int8 || a.check_finite || GeneratedMetrics::needed(model);
  if (!training && run.weights && !in_f32 && !driver::is_package(a.model.model)) {
    driver::Int8Weights int8 = driver::int8_weights(*run.weights, run.device.target);
    if (!int8.note.empty()) note(int8.note);
    options.compile.int8 = std::move(int8.weights);
  }
  if (!packaged.empty()) options.compile.choices = std::move(packaged);
  driver::Session& s = run.session = driver::open_session(model, options);
  if (run.weights) driver::put_int8(*run.weights, s.program);
  if (const std::string told = driver::told_of_int8(s.program, model); !told.empty()) note(told);
  if (run.weights)
    if (const std::string told = driver::require_weights(*run.weights, s.plan, s.program, training); !told.empty())
      note(told);
  if (run.saved != nullptr) run.saved->require_states(s.program);
  driver::load(s, *run.device.device);
  for (const std::string& told : s.splits.notes) note(told);
  if (training) driver::note_class_differences(s.plan, s.splits, note);
}

void load_weights(Run& run) {
  if (!run.weights) return;
  runtime::load_weights(*run.session.executable, *run.weights);
  run.weights.reset();  // their memory is free for the run
}

void open_generated(const RunArguments& a, Run& run) {
  const frontend::Model& model = run.read.model;
  if (!GeneratedMetrics::needed(model)) return;
  if (!run.session.splits.validation && !run.session.splits.test)
    return note("metrics of texts that the model writes are left out: there are no validation or test rows");
  if (driver::is_package(a.model.model))
    return note("metrics of texts that the model writes are left out: a package holds no program that writes");
  driver::CompileOptions options = compile_options(a.model);
  options.target = run.device.target;
  const auto weights = runtime::weights_of(*run.session.executable, run.session.metadata);
  run.generated = std::make_unique<GeneratedMetrics>(
      model, weights, options, [request = a.device] { return std::move(driver::open_device(request).device); });
}

runtime::MetricValues generated_metrics(Run& run, const runtime::Split& split,
                                        const std::function<int()>& interrupted) {
  if (!run.generated) return {};
  const bool trains = run.saved != nullptr;  // an evaluation of saved weights has no averages beside them
  return run.generated->measure(split, runtime::weights_of(*run.session.executable, run.session.metadata, trains),
                                interrupted);
}

void announce(const RunArguments& a, const Run& run) {
  if (!a.quiet) print_note("{}: {}\n", run.session.plan.name, run.device.description());
}

void report_metrics(const std::string& split, const runtime::MetricValues& values) {
  print_note("{}: {}\n{}", split, runtime::metrics_text(values, "", ", "), runtime::metric_tables(values));
}

void add_common(runtime::JsonObject& out, Run& run) {
  const driver::Session& s = run.session;
  out.integer("arena_bytes", s.program.arena_bytes).integer("state_bytes", s.program.state_bytes);
  out.text("weights_hash", runtime::weights_hash(*s.executable)).integer("peak_bytes", runtime::peak_resident_bytes());
}

}  // namespace heddle::tools
