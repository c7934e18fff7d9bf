#include "tools/command/open_session.h"

#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <utility>

#include "frontend/train_step.h"
#include "ir/diagnostic.h"
#include "runtime/process_memory.h"
#include "runtime/train/progress.h"
#include "runtime/weights/checkpoint.h"
#include "runtime/weights/read_weights.h"
#include "tools/command/class_differences.h"
#include "tools/command/class_names.h"
#include "tools/command/command_line.h"
#include "tools/command/fit_weights.h"
#include "tools/command/output.h"
#include "tools/command/resolved_model.h"
#include "tools/command/statistics.h"

namespace heddle::tools {

runtime::WeightsFile read_start(const RunArguments& a) {
  runtime::ReadWeights read = runtime::read_weights(a.weights, a.prefix);
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
  command.add_flag("--quiet", a.quiet, "tell of no progress: results, warnings, notes and errors only");
}

void add_weights_arguments(Command& command, RunArguments& a, const std::string& help) {
  command.add_option("--weights", a.weights, help).takes(Takes::file);
  command.add_option("--weights-prefix", a.prefix,
                     "take this off the names of the file's tensors: \"module.\", \"_orig_mod.\"");
}

std::string root_of(const RunArguments& a, const Session& s) {
  return a.data.empty() ? std::filesystem::path(s.read.path).parent_path().string() : a.data;
}

// Data are read while the model is compiled: the batch sizes need only the counts of rows. Weights are read before, so
// that a wrong file is found before a minute of compiling.
void open_session(const RunArguments& a, bool training, Session& s) {
  warn_without_kernel_cache();
  s.device = open_device(a.device);
  read(a.model, s.read);
  if (s.saved != nullptr)
    s.saved->choose(resolved_model(*s.read.model.file, read_options(a.model)), frontend::needs_length(s.read.model));
  const bool begins = s.saved == nullptr || !s.saved->resumes();
  if (!begins && !a.weights.empty()) note("the run goes on from its checkpoint: --weights is not read");
  if (begins && !a.weights.empty()) s.weights = read_start(a);
  const frontend::TrainingPlan planned = frontend::plan_training(s.read.model);
  s.plan = planned;
  const runtime::WeightsFile* kept = s.weights ? &*s.weights : begins ? nullptr : s.saved->file();
  if (kept != nullptr) take_statistics(s.plan, *kept);
  if (training) print_warnings(s.plan);
  const bool fits = waits_for_statistics(s.plan);
  const DataRequest request{.plan = &s.plan,
                            .root = root_of(a, s),
                            .train = training || fits,
                            .class_names = kept != nullptr ? class_names(s.plan, *kept) : ClassNames()};
  if (training) require_trainable(s.read.model);
  if (fits && !s.plan.data.train)
    throw UserError(s.plan.data.where,
                    "normalize waits for the mean and deviation of training rows, and there are none",
                    "give 'mean' and 'std', or weights that keep them");
  const DataHeader header = read_headers(request);
  s.metadata = class_metadata(s.plan, header.class_names);
  const RowCounts& rows = header.rows;
  if (training) runtime::epoch_length(rows.train, s.plan.batch, s.plan.drop_last);  // throws where there is none
  if (!training && rows.validation == 0 && rows.test == 0)
    throw UserError(s.plan.data.where, "the model has no data to evaluate on",
                    "add a \"test\" or \"validation\" split to \"data\"");
  // Without a policy: at the same time where the system gives a thread, else in get().
  std::future<Splits> loading = std::async([&] { return load_splits(request, header); });
  if (fits) {  // the kernels hold the numbers, so the rows come first
    s.splits = loading.get();
    fit_statistics(s.plan, s.splits.train->table);
  }
  s.metadata.merge(statistics_metadata(planned, s.plan));
  CompileOptions options = compile_options(a.model);
  options.fed = s.fed = fed_entries(s.plan, header.stored);
  options.target = s.device.target;
  s.entries = entry_batches(s.plan, rows, training);
  s.program = compile_model(s.read.model, s.entries, options);
  if (s.weights)
    if (const std::string told = require_weights(*s.weights, s.plan, s.program); !told.empty()) note(told);
  if (s.saved != nullptr) s.saved->require_states(s.program);
  s.executable = std::make_unique<runtime::Executable>(s.program, *s.device.device);
  if (!fits) s.splits = loading.get();
  if (training) note_class_differences(s.plan, s.splits, note);
}

void load_weights(Session& s) {
  if (!s.weights) return;
  runtime::load_weights(*s.executable, *s.weights);
  s.weights.reset();  // their memory is free for the run
}

void announce(const RunArguments& a, const Session& s) {
  if (!a.quiet) print_note("{}: {}\n", s.plan.name, s.device.description());
}

void report_metrics(const std::string& split, const runtime::MetricValues& values) {
  print_note("{}: {}\n{}", split, runtime::metrics_text(values, "", ", "), runtime::metric_tables(values));
}

void add_common(runtime::JsonObject& out, Session& s) {
  out.integer("arena_bytes", s.program.arena_bytes).integer("state_bytes", s.program.state_bytes);
  out.text("weights_hash", runtime::weights_hash(*s.executable)).integer("peak_bytes", runtime::peak_resident_bytes());
}

}  // namespace heddle::tools
