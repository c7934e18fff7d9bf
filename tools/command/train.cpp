// heddle train, heddle eval: a model on its data set.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "runtime/train/finite.h"
#include "runtime/train/progress.h"
#include "runtime/train/run_log.h"
#include "runtime/weights/checkpoint.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/class_names.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/compile_model.h"
#include "tools/command/evaluate_graphs.h"
#include "tools/command/learning_rate.h"
#include "tools/command/load_data.h"
#include "tools/command/open_device.h"
#include "tools/command/output.h"
#include "tools/command/signals.h"

namespace heddle::tools {
namespace {

struct RunArguments {
  ModelArguments model;
  DeviceArguments device;
  std::string data, weights, save, log;
  int repeat = 0;
  bool json = false;
};

void add_run_arguments(Command& command, RunArguments& a) {
  add_model_arguments(command, a.model);
  add_device_arguments(command, a.device);
  command.add_option("--data", a.data, "the folder that holds the data files; default: the model's");
  command.add_flag("--json", a.json, "print one JSON object on standard output");
}

// Everything a run needs, compiled and loaded.
struct Session {
  ReadModel read;
  frontend::TrainingPlan plan;
  Splits splits;
  std::map<std::string, std::string> metadata;  // of weights that are saved
  std::optional<runtime::WeightsFile> weights;  // to start from
  codegen::Program program;
  OpenedDevice device;
  std::unique_ptr<runtime::Executable> executable;
};

// Data are read while the model is compiled: the batch sizes need only the counts of rows. Weights are read before, so
// that a wrong file is found before a minute of compiling.
void open_session(const RunArguments& a, bool training, Session& s) {
  s.device = open_device(a.device);
  read(a.model, s.read);
  if (!a.weights.empty()) s.weights = runtime::read_safetensors(a.weights);
  s.plan = frontend::plan_training(s.read.model);
  if (training) print_warnings(s.plan);
  const std::filesystem::path model_folder = std::filesystem::path(s.read.path).parent_path();
  const DataRequest request{.plan = &s.plan,
                            .root = a.data.empty() ? model_folder : std::filesystem::path(a.data),
                            .train = training,
                            .class_names = s.weights ? class_names(s.plan, *s.weights) : ClassNames()};
  if (training && !s.plan.data.train)
    throw UserError(s.read.model.train.where, "the model has no data to train on", "add \"data\": {\"train\": {...}}");
  const DataHeader header = read_headers(request);
  s.metadata = class_metadata(s.plan, header.class_names);
  const RowCounts& rows = header.rows;
  if (!training && rows.validation == 0 && rows.test == 0)
    throw UserError(s.plan.data.where, "the model has no data to evaluate on",
                    "add a \"test\" or \"validation\" split to \"data\"");
  // Without a policy: at the same time where the system gives a thread, else in get().
  std::future<Splits> loading = std::async([&] { return load_splits(request, header); });
  CompileOptions options = compile_options(a.model);
  options.fed = fed_entries(s.plan, header.stored);
  options.target = s.device.target;
  s.program = compile_model(s.read.model, entry_batches(s.plan, rows, training), options);
  if (s.weights) runtime::require_match(*s.weights, s.program);
  s.executable = std::make_unique<runtime::Executable>(s.program, *s.device.device);
  s.splits = loading.get();
}

void load_weights(Session& s) {
  if (!s.weights) return;
  runtime::load_weights(*s.executable, *s.weights);
  if (const auto parameter = runtime::parameter_not_finite(*s.executable))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: '{}' holds {}: what is computed with it is not finite either", s.weights->name,
                                parameter->name, parameter->value),
                    "use weights saved before the numbers went wrong");
  s.weights.reset();  // their memory is free for the run
}

void announce(const Session& s) { print_note("{}: {}\n", s.plan.name, s.device.description()); }

// Tells what is done otherwise than usual.
void note(const std::string& text) { print_note("note: {}\n", text); }

void report_metrics(const std::string& split, const runtime::MetricValues& values) {
  print_note("{}: {}\n{}", split, runtime::metrics_text(values, "", ", "), runtime::metric_tables(values));
}

// Lines of epochs have numbers only: the tables of the last one follow.
void report_tables(const std::string& split, const runtime::MetricValues& values) {
  const std::string tables = runtime::metric_tables(values);
  if (!tables.empty()) print_note("{}:\n{}", split, tables);
}

void add_common(runtime::JsonObject& out, Session& s) {
  out.integer("arena_bytes", s.program.arena_bytes).integer("state_bytes", s.program.state_bytes);
  out.text("weights_hash", runtime::weights_hash(*s.executable)).integer("peak_bytes", runtime::peak_resident_bytes());
}

// What would be found after the training, found before it.
void check_outputs(const RunArguments& a) {
  require_different("--log", a.log, "--save", a.save);
  require_different("--log", a.log, "--weights", a.weights);
  if (!a.save.empty()) runtime::require_weights_path(a.save);
}

runtime::TrainResult run_training(Session& s, const runtime::TrainOptions& options, runtime::RunLog& log) {
  LearningRate rate(s.read.model, *s.executable);
  runtime::Progress progress(stderr, [&rate](int64_t steps, int64_t all) { return rate.behind(steps, all); });
  runtime::Watcher watcher;
  watcher.step = [&](const runtime::StepEvent& e) { progress.step(e), log.step(e); };
  watcher.epoch = [&](const runtime::EpochEvent& e) { progress.epoch(e), log.epoch(e); };
  watcher.interrupted = InterruptGuard::signal;
  watcher.note = note;
  const runtime::Split* validation = s.splits.validation ? &*s.splits.validation : nullptr;
  runtime::TrainResult result = runtime::train(*s.executable, options, *s.splits.train, validation, watcher);
  progress.finish();
  return result;
}

// The object that the log and --json end with; empty where a signal ended the evaluation of the test split.
std::optional<runtime::JsonObject> results_of(Session& s, const runtime::TrainResult& result) {
  runtime::JsonObject metrics;
  report_tables("train", result.train);
  if (result.validation) report_tables("validation", *result.validation);
  metrics.raw("train", runtime::metrics_json(result.train));
  if (result.validation) metrics.raw("validation", runtime::metrics_json(*result.validation));
  if (s.splits.test) {
    runtime::Watcher watcher;
    watcher.interrupted = InterruptGuard::signal;
    watcher.note = note;
    const runtime::MetricValues test = runtime::evaluate(*s.executable, *s.splits.test, watcher);
    if (InterruptGuard::signal()) return std::nullopt;
    report_metrics("test", test);
    metrics.raw("test", runtime::metrics_json(test));
  }
  runtime::JsonObject out;
  out.text("model", s.plan.name).raw("metrics", metrics.str()).number("train_seconds", result.seconds);
  out.integer("steps", result.steps).integer("epochs", result.epochs).number("seconds", process_seconds());
  add_common(out, s);
  return out;
}

// "w.safetensors" -> "w.1.safetensors", or the next number that nobody has taken. A name that cannot be asked for, being
// too long, is returned: writing it says why it fails.
std::string name_beside(const std::filesystem::path& path) {
  std::error_code ec;
  for (int i = 1;; ++i) {
    const std::string name = fmt::format("{}.{}{}", path.stem().string(), i, path.extension().string());
    std::filesystem::path beside = path.parent_path() / name;
    if (!std::filesystem::exists(std::filesystem::symlink_status(beside, ec))) return beside;
  }
}

// Where the path has been taken during the training, by a document or by write protection, the weights go beside it.
void save(const Session& s, const std::string& path) {
  try {
    runtime::save_weights(*s.executable, path, s.metadata);
  } catch (const UserError& error) {
    const std::string beside = name_beside(path);
    try {
      runtime::save_weights(*s.executable, beside, s.metadata);
    } catch (const UserError&) {
      throw error;
    }
    throw UserError(error.code(), error.diagnostics().front().message, "the weights are in " + beside);
  }
}

// From the guard on there are weights, and whatever signal comes, they are saved before the process ends.
int train(const RunArguments& a) {
  check_outputs(a);
  runtime::RunLog log(a.log);
  Session s;
  open_session(a, true, s);
  const InterruptGuard guard;
  announce(s);
  s.executable->run(*s.program.find_entry("init"));
  load_weights(s);
  log.event("start", runtime::JsonObject().text("model", s.plan.name).text("device", s.device.description()));
  runtime::TrainOptions options{.epochs = s.plan.epochs,
                                .steps = s.plan.steps,
                                .seed = static_cast<uint64_t>(s.plan.seed),
                                .drop_last = s.plan.drop_last};
  if (a.repeat > 0) options.steps_options.most_repeats = a.repeat;
  const runtime::TrainResult result = run_training(s, options, log);
  if (!a.save.empty()) save(s, a.save);
  std::optional<runtime::JsonObject> out;
  if (!InterruptGuard::signal()) out = results_of(s, result);
  if (out) {
    log.event("end", *out);
    if (a.json) print_result("{}\n", out->str());
  } else {
    print_note("interrupted after step {}{}\n", result.steps, a.save.empty() ? "" : ", weights saved to " + a.save);
  }
  log.finish();
  const int signal = InterruptGuard::signal();
  return signal ? 128 + signal : 0;
}

int eval(const RunArguments& a) {
  Session s;
  open_session(a, false, s);
  announce(s);
  load_weights(s);
  runtime::JsonObject metrics;
  const auto run = [&](const std::string& name, const std::optional<runtime::Split>& split) {
    if (!split) return;
    runtime::Watcher watcher;
    watcher.note = note;
    const runtime::MetricValues values = runtime::evaluate(*s.executable, *split, watcher);
    report_metrics(name, values);
    metrics.raw(name, runtime::metrics_json(values));
  };
  run("validation", s.splits.validation);
  run("test", s.splits.test);
  runtime::JsonObject out;
  out.text("model", s.plan.name).raw("metrics", metrics.str()).integer("steps", 0).number("seconds", process_seconds());
  add_common(out, s);
  if (a.json) print_result("{}\n", out.str());
  return 0;
}

}  // namespace

void add_train(CommandLine& line) {
  Command command = line.add_subcommand("train", "train a model on its data set");
  const auto a = std::make_shared<RunArguments>();
  add_run_arguments(command, *a);
  command.add_option("--save", a->save, "write the weights here at the end (safetensors)");
  command.add_option("--weights", a->weights, "start from these weights instead of the initializers");
  command.add_option("--repeat", a->repeat, "most steps that the device executes without being asked again")
      .between(1, 4096);
  command.add_option("--log", a->log, "write a log of the run here, one JSON object per line");
  command.run([a] { return train(*a); });
}

void add_eval(CommandLine& line) {
  Command command = line.add_subcommand(
      "evaluate", "evaluate saved weights on the validation and test splits; a .hir file: run its graphs on tensors",
      "eval");
  const auto a = std::make_shared<RunArguments>();
  const std::shared_ptr<EvaluateArguments> graphs = add_graph_arguments(command);
  add_run_arguments(command, *a);
  command.add_option("--weights", a->weights, "the weights (safetensors)");
  command.run([a, graphs] {
    if (takes_graphs(*graphs, a->model.model)) return evaluate_graphs(*graphs, a->model.model), 0;
    if (a->weights.empty())
      throw UserError(ExitCode::usage, "--weights is required", "heddle evaluate MODEL --weights FILE.safetensors");
    return eval(*a);
  });
}

}  // namespace heddle::tools
