// heddle train: a model on its data set.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "runtime/process/exit_cleanup.h"
#include "runtime/process/process_memory.h"
#include "runtime/train/progress.h"
#include "runtime/train/run_log.h"
#include "runtime/train/watchdog.h"
#include "runtime/weights/program_weights.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/check_finite.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/end_log.h"
#include "tools/command/explain_loss.h"
#include "tools/command/learning_rate.h"
#include "tools/command/open_run.h"
#include "tools/command/output.h"
#include "tools/command/run_arguments.h"
#include "tools/command/saved_run.h"
#include "tools/command/signals.h"
#include "tools/command/train_folds.h"
#include "tools/command/weights_sources.h"
#include "tools/driver/adapters.h"

namespace heddle::tools {
namespace {

// Lines of epochs have numbers only: the tables of the last one follow.
void report_tables(const std::string& split, const runtime::MetricValues& values) {
  const std::string tables = runtime::metric_tables(values);
  if (!tables.empty()) print_note("{}:\n{}", split, tables);
}

// Finds errors about output files before the training.
void check_outputs(const RunArguments& a) {
  if (a.json && a.log == "-")
    throw UserError(ExitCode::usage, "--json and --log - would both write to standard output",
                    "leave out --json: the log ends with the same object, as its event 'end'");
  check_saving_arguments(a.saving, a.log);
  require_different("--log", a.log, "--save", a.save);
  require_no_source("--log", a.log, a.weights);
  if (!a.save.empty()) runtime::require_weights_path(a.save);
  if (a.fold > 0 && a.folds == 0)
    throw UserError(ExitCode::usage, "--fold needs --folds",
                    "it is the number of one of the folds: --folds 5 --fold 2");
  if (a.fold > a.folds)
    throw UserError(ExitCode::usage, fmt::format("--fold {}: there are {} folds, from 1 on", a.fold, a.folds));
  if (!a.prefix.empty() && a.weights.empty())
    throw UserError(ExitCode::usage, "--weights-prefix needs --weights",
                    "it is the beginning of the names in that file");
}

runtime::TrainResult run_training(const RunArguments& a, Run& run, const runtime::TrainOptions& options,
                                  runtime::RunLog& log) {
  LearningRate rate(run.read.model, *run.session.executable);
  std::optional<double> lr;  // of the last step that the log has
  runtime::Progress progress(stderr, [&rate](int64_t steps, int64_t all) { return rate.behind(steps, all); });
  runtime::Watcher watcher;
  watcher.step = [&](const runtime::StepEvent& e) {
    if (!a.quiet) progress.step(e);
    if (log.writes()) lr = rate.of_step(e.optimizer_step, e.all_steps, e.epoch);
    log.step(e, lr);
  };
  watcher.epoch = [&](const runtime::EpochEvent& e) {
    if (!a.quiet) progress.epoch(e);
    // A run that goes on at the end of an epoch has made no step of it: the rate is that of its last one all the same.
    if (log.writes() && !lr) lr = rate.of_step(e.total_step, e.all_steps, e.epoch);
    log.epoch(e, lr);
  };
  watcher.explain = [&](int64_t step, const std::string& what) { return explain_loss(a, run, step, what); };
  watcher.origin = [&](const runtime::FaultyStep& step) { return check_finite(a, run, step); };
  watcher.interrupted = InterruptGuard::signal;
  watcher.note = note;
  if (run.generated)
    watcher.measure = [&](const runtime::Split& split) {
      return generated_metrics(run, split, InterruptGuard::signal);
    };
  if (run.saved->kept()) {
    watcher.save = [&](const runtime::RunState& state) { run.saved->save(*run.session.executable, state, log); };
    watcher.better = [&](const runtime::Best& best) { run.saved->save_best(best); };
  }
  runtime::TrainResult result = driver::train(run.session, options, watcher);
  progress.finish();
  return result;
}

// The object that the log and --json end with; empty where a signal ended the evaluation of the test split.
std::optional<runtime::JsonObject> results_of(const RunArguments& a, Run& run, const runtime::TrainResult& result) {
  driver::Session& s = run.session;
  runtime::JsonObject metrics;
  if (!a.quiet) report_tables("train", result.train);
  if (!a.quiet && result.validation) report_tables("validation", *result.validation);
  metrics.raw("train", runtime::metrics_json(result.train));
  if (result.validation) metrics.raw("validation", runtime::metrics_json(*result.validation));
  if (s.splits.test) {
    runtime::Watcher watcher;
    watcher.interrupted = InterruptGuard::signal;
    watcher.note = note;
    runtime::MetricValues test = driver::evaluate(s, *s.splits.test, watcher);
    std::ranges::move(generated_metrics(run, *s.splits.test, watcher.interrupted), std::back_inserter(test));
    if (InterruptGuard::signal()) return std::nullopt;
    if (!a.quiet) report_metrics("test", test);
    metrics.raw("test", runtime::metrics_json(test));
  }
  runtime::JsonObject out;
  out.text("model", s.plan.name).raw("metrics", metrics.str()).number("train_seconds", result.seconds);
  out.integer("steps", result.steps).integer("epochs", result.epochs).number("seconds", process_seconds());
  add_common(out, run);
  if (result.best) {
    runtime::JsonObject best;
    best.integer("epoch", result.best->epoch).integer("step", result.best->step).number("value", result.best->value);
    out.raw("best", best.str());
  }
  return out;
}

// "w.safetensors" -> "w.1.safetensors", or the next number that nobody has taken. A name that
// cannot be asked for, being too long, is returned: writing it says why it fails.
std::string name_beside(const std::filesystem::path& path) {
  std::error_code ec;
  for (int i = 1;; ++i) {
    const std::string name = fmt::format("{}.{}{}", path.stem().string(), i, path.extension().string());
    std::filesystem::path beside = path.parent_path() / name;
    if (!std::filesystem::exists(std::filesystem::symlink_status(beside, ec))) return beside;
  }
}

// Saves the weights. If the path has become unwritable during the training, or another kind of file lies there, saves
// them beside it.
void save(const driver::Session& s, const std::string& path) {
  const auto write = [&](const std::string& to) {
    runtime::require_weights_path(to);
    runtime::WeightsFile weights = runtime::weights_of(*s.executable, s.metadata);
    if (s.plan.adapters) weights = driver::adapters_of(weights, *s.plan.adapters);
    runtime::write_safetensors(to, weights);
  };
  try {
    write(path);
  } catch (const UserError& error) {
    const std::string beside = name_beside(path);
    try {
      write(beside);
    } catch (const UserError&) {
      throw error;
    }
    throw UserError(error.code(), error.diagnostics().front().message, "the weights are in " + beside);
  }
}

// The device does not finish its step, so nothing more can be saved.
[[noreturn]] void end_hanging(double seconds, const std::string& run, runtime::RunLog& log) {
  const UserError error(ExitCode::limit, fmt::format("a step takes longer than {:.3g} s", seconds));
  end_log(log, error);
  runtime::clean_up_for_exit();
  print_note("error: {}: the process ends\nhelp: {}\n", error.diagnostics().front().message,
             run.empty()
                 ? "--step-timeout allows it more time; --run DIR keeps checkpoints"
                 : "--resume continues from the last checkpoint in " + run + "; --step-timeout allows it more time");
  _exit(static_cast<int>(error.code()));
}

// None where steps may take any time.
std::unique_ptr<runtime::Watchdog> make_watchdog(const SavingArguments& a, runtime::RunLog& log) {
  constexpr double kDefaultSeconds = 600;
  const double seconds = a.step_timeout.empty() ? kDefaultSeconds : duration(a.step_timeout, "--step-timeout");
  if (seconds == 0) return nullptr;
  return std::make_unique<runtime::Watchdog>(seconds,
                                             [run = a.run, &log](double after) { end_hanging(after, run, log); });
}

runtime::TrainOptions train_options(const RunArguments& a, const Run& run) {
  const frontend::TrainingPlan& plan = run.session.plan;
  runtime::TrainOptions options = driver::train_options(run.session);
  options.from = run.saved->from();
  options.save = save_rule(a.saving.every, plan.checkpoint);
  options.max_seconds = duration(a.saving.max_time, "--max-time");
  options.max_resident_bytes = static_cast<int64_t>(a.saving.max_memory * (1 << 30));
  options.last_epoch = a.stop_after;
  options.check_finite = a.check_finite;
  if (a.repeat > 0) options.steps_options.most_repeats = a.repeat;
  if (run.saved->kept()) options.best = driver::best_rule(plan);
  return options;
}

// The folder is marked, and the log begins or goes on.
void begin_run(const RunArguments& a, Run& run, runtime::RunLog& log) {
  driver::Session& s = run.session;
  std::error_code ec;
  runtime::JsonObject mark;
  mark.text("format", "heddle-run/1").text("model", s.plan.name).text("heddle", HEDDLE_VERSION);
  mark.text("data", std::filesystem::absolute(run.read.folder(a.data), ec).lexically_normal().string());
  run.saved->begin(*s.executable, log,
                   {.mark = mark.str() + "\n",
                    .data = run.saved->kept() ? driver::data_text(s.splits) : "",
                    .choices = driver::hash_of(read_choices(a.model.choices)),
                    .any_choices = a.saving.other_choices,
                    .metadata = s.metadata,
                    .keep = s.plan.checkpoint.keep});
  const runtime::RunState* from = run.saved->from();
  runtime::JsonObject event;
  event.text("model", s.plan.name).text("device", run.device.description());
  if (from != nullptr) event.integer("step", from->steps).integer("epoch", from->epochs);
  log.event(from != nullptr ? "resume" : "start", event);
}

// What ended the training before its length, for people.
void report_stop(const runtime::TrainResult& result) {
  const auto best = [&] {
    return result.best ? fmt::format("; the best epoch was {}", result.best->epoch) : std::string();
  };
  if (result.stopped == runtime::Stopped::early_stop)
    print_note("stopped early after epoch {}{}\n", result.epochs, best());
  if (result.stopped == runtime::Stopped::max_time) print_note("stopped by --max-time after step {}\n", result.steps);
  if (result.stopped == runtime::Stopped::last_epoch) print_note("stopped by --stop-after at step {}\n", result.steps);
  if (result.stopped == runtime::Stopped::memory)
    print_note("stopped by --max-memory after step {}: the process takes {} MB\n", result.steps,
               runtime::resident_bytes() / 1'000'000);
}

int exit_code(const runtime::TrainResult& result) {
  if (const int signal = InterruptGuard::signal()) return 128 + signal;
  return result.stopped == runtime::Stopped::memory ? static_cast<int>(ExitCode::limit) : 0;
}

// Weights as the last step left them go to the run's folder, the best ones to --save where the model says so. A folder
// that is full or gone is told once they are there.
void save_weights(const RunArguments& a, Run& run, const runtime::TrainResult& result) {
  if (result.best) run.saved->make_sure_of_best(*result.best);
  std::exception_ptr not_kept;
  try {
    run.saved->save_last(*run.session.executable);
  } catch (const UserError&) {
    not_kept = std::current_exception();
  }
  if (driver::ends_with_best(run.session.plan, result)) {
    runtime::load_weights(*run.session.executable, result.best->weights, true);
    print_note("the weights are those of epoch {}, the best\n", result.best->epoch);
  }
  if (!a.save.empty()) save(run.session, a.save);
  if (not_kept) std::rethrow_exception(not_kept);
}

// From `begin_run` on, whatever ends the run is in its log.
runtime::TrainResult run_to_the_end(const RunArguments& a, Run& run, runtime::RunLog& log) {
  const std::unique_ptr<runtime::Watchdog> watchdog = make_watchdog(a.saving, log);
  runtime::TrainOptions options = train_options(a, run);
  options.steps_options.watchdog = watchdog.get();
  runtime::TrainResult result = run_training(a, run, options, log);
  report_stop(result);
  save_weights(a, run, result);
  std::optional<runtime::JsonObject> out;
  if (!InterruptGuard::signal()) out = results_of(a, run, result);
  end_log(log, out, result, run.saved->failure());
  if (out) {
    if (a.json) print_result("{}\n", out->str());
  } else {
    const std::string to = !a.save.empty() ? a.save : run.saved->folder();
    print_note("interrupted after step {}{}\n", result.steps, to.empty() ? "" : ", weights saved to " + to);
  }
  return result;
}

// From the guard on there are weights, and whatever signal comes, they are saved before the process ends.
int train(const RunArguments& a) {
  check_outputs(a);
  if (a.folds > 0 && a.fold == 0) return train_folds(a);
  if (a.jobs > 1)
    throw UserError(ExitCode::usage, "--jobs needs --folds", "one training is one process: --threads divides its work");
  runtime::RunLog log(a.log);
  SavedRun saved(a.saving);
  Run run;
  run.saved = &saved;
  open_run(a, driver::Purpose::training, run);
  if (run.session.plan.adapters) require_no_source("--save", a.save, a.weights);  // it would hold the adapters alone
  const frontend::CheckpointRule& rule = run.session.plan.checkpoint;
  if (a.saving.run.empty() && (rule.steps || rule.epochs || rule.minutes))
    note("train.checkpoint: nothing is kept without --run DIR");
  if (run.session.plan.adapters && a.weights.empty() && !saved.resumes())
    note("train.lora: the base has its initial values, which --save leaves out; --weights gives it those of a file");
  const InterruptGuard guard;
  announce(a, run);
  driver::initialise(run.session);
  load_weights(run);
  open_generated(a, run);
  begin_run(a, run, log);
  runtime::TrainResult result;
  try {
    result = run_to_the_end(a, run, log);
  } catch (const std::exception& error) {
    if (!log.ended()) end_log(log, error, saved.is_gone());
    throw;
  }
  log.finish();
  saved.finish();
  return exit_code(result);
}

}  // namespace

void add_train(CommandLine& line) {
  Command command = line.add_subcommand("train", "train a model on its data set");
  const auto a = std::make_shared<RunArguments>();
  add_run_arguments(command, *a);
  command.add_option("--save", a->save, "write the weights here at the end (safetensors)").takes(Takes::file);
  add_weights_arguments(command, *a, "start from these weights instead of the initializers");
  command.add_option("--repeat", a->repeat, "most steps of one submission to the device").between(1, 4096);
  command.add_option("--log", a->log, "write a log of the run here, one JSON object per line; - is standard output")
      .takes(Takes::file);
  add_saving_arguments(command, a->saving);
  command.add_option("--stop-after", a->stop_after, "end after this epoch, as a run that goes on with --resume")
      .between(1, 1 << 30);
  command.add_flag("--check-finite", a->check_finite,
                   "name the operator, line, step and row that made the first nan or infinity");
  command.add_option("--folds", a->folds, "cross-validate: train so often, each time without another part of the rows")
      .between(2, 1000);
  command.add_option("--fold", a->fold, "with --folds: train without this part alone, from 1 on").between(1, 1000);
  command.add_option("--jobs", a->jobs, "with --folds: processes at a time, which divide the threads (default 1)")
      .between(1, 256);
  command.run([a] { return train(*a); });
}

}  // namespace heddle::tools
