// heddle sweep: many trainings of one model with other settings, and the best of them.
#include "tools/driver/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/files/locked_folder.h"
#include "runtime/files/write_file.h"
#include "runtime/json_text.h"
#include "runtime/weights/safetensors.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/open_run.h"
#include "tools/command/output.h"
#include "tools/command/read_file.h"
#include "tools/command/resolved_model.h"
#include "tools/command/signals.h"
#include "tools/command/trial_words.h"
#include "tools/command/trials_mark.h"

namespace heddle::tools {
namespace {

using driver::Rung;
using driver::Setting;
using driver::SweepPlan;
using driver::SweepRow;
using driver::Variable;

struct SweepArguments {
  RunArguments run;
  std::vector<std::string> vary;
  std::string strategy, out;
  int trials = 0, seed = 0;
};

std::string mark_of(const SweepArguments& a, const SweepPlan& plan, const driver::ReadModel& base) {
  std::error_code ec;
  runtime::JsonObject mark;
  mark.text("format", "heddle-sweep/1").text("heddle", HEDDLE_VERSION).text("strategy", plan.strategy);
  mark.integer("seed", a.seed).integer("trials", std::ssize(plan.settings));
  mark.raw("vary", runtime::json_texts(a.vary));
  mark.text("data", std::filesystem::absolute(base.folder(a.run.data), ec).lexically_normal().string());
  mark.text("weights", fmt::format("{}", fmt::join(a.run.weights, ", ")));
  return mark.text("model", resolved_model(*base.model.file, read_options(a.run.model))).str() + "\n";
}

void require_same_sweep(const SweepArguments& a, const SweepPlan& plan, const driver::TrialsFolder& folder,
                        const std::string& mark) {
  std::vector<const char*> keys{"strategy", "seed", "vary", "data", "weights"};
  if (plan.strategy != "random") keys.push_back("trials");  // more may be drawn; those before stay the same
  if (!folder.mark().empty()) require_same_mark(folder.path(), folder.mark(), mark, keys);
  if (plan.strategy == "random" && folder.rows().size() > plan.settings.size())
    throw UserError(ExitCode::failed,
                    fmt::format("{}: {} trials have ended in this folder, more than --trials {}", folder.path(),
                                folder.rows().size(), a.trials),
                    "--trials takes this number or a larger one");
}

std::string measure_of(const SweepPlan& plan) {
  return fmt::format("{} {}", plan.validates ? "validation" : "train", plan.rule.metric);
}

// The lines of a table, as trials end.
class Table {
 public:
  explicit Table(const SweepPlan& plan) : plan_(plan) {
    constexpr size_t kLeast = 10;
    for (const Variable& v : plan.variables) widths_.push_back(std::max(kLeast, v.path.size()));
    for (const Setting& s : plan.settings)
      for (size_t v = 0; v < s.size(); ++v) widths_[v] = std::max(widths_[v], std::min<size_t>(s[v].size(), 24));
    std::string head = fmt::format("{:>5}  ", "trial");
    for (size_t v = 0; v < widths_.size(); ++v) head += fmt::format("{:>{}}  ", plan.variables[v].path, widths_[v]);
    if (plan.halves()) head += fmt::format("{:>6}  ", "epochs");
    print_note("{}{}\n", head, measure_of(plan));
  }
  void add(const SweepRow& row, const Rung& rung) const {
    std::string line = fmt::format("{:>5}  ", row.trial + 1);
    const Setting& setting = plan_.settings[static_cast<size_t>(row.trial)];
    for (size_t v = 0; v < widths_.size(); ++v) line += fmt::format("{:>{}}  ", setting[v], widths_[v]);
    if (plan_.halves()) line += fmt::format("{:>6}  ", rung.epochs);
    print_note("{}{}\n", line, row.value ? fmt::format("{:.6g}", *row.value) : "failed: " + row.error);
  }

 private:
  const SweepPlan& plan_;
  std::vector<size_t> widths_;
};

// The weights of the trial's best epoch, and its model with its settings.
void write_best(const driver::TrialsFolder& folder, const SweepRow& best) {
  const std::string run = folder.at(driver::trial_name(best.trial));
  for (const char* name : {"/best.safetensors", "/model.json"})
    if (!runtime::is_regular_file(run + name))
      throw UserError(ExitCode::failed, fmt::format("{}{}: of the best trial, is gone", run, name),
                      "put the trial's folder back, and --resume; or --overwrite starts a new sweep");
  runtime::write_safetensors(folder.at("best.safetensors"), runtime::read_safetensors(run + "/best.safetensors"));
  runtime::replace_file(folder.at("best.json"), {read_file(run + "/model.json").text});
}

void tell_best(const SweepArguments& a, const SweepPlan& plan, const std::string& model, const std::string& weights,
               const SweepRow& best) {
  std::string settings;
  runtime::JsonObject out, values;
  for (size_t v = 0; v < plan.variables.size(); ++v) {
    const std::string& value = plan.settings[static_cast<size_t>(best.trial)][v];
    settings += fmt::format("{}{}={}", v == 0 ? "" : ", ", plan.variables[v].path, value);
    values.raw(plan.variables[v].path, driver::value_json(value));
  }
  print_note("best: trial {}: {} {:.6g} with {}\n", best.trial + 1, measure_of(plan), *best.value, settings);
  if (!a.run.json) return;
  out.text("model", model).integer("trials", std::ssize(plan.settings)).integer("best", best.trial + 1);
  out.number("value", *best.value).raw("settings", values.str());
  print_result("{}\n", out.text("weights", weights).str());
}

void tell_plan(const SweepPlan& plan) {
  if (!plan.validates) note("the model has no validation rows: trials are compared by their training rows");
  if (const int64_t repeated = driver::repeated_settings(plan); repeated > 0)
    note(fmt::format("{} of {} trials have the settings of an earlier one; a grid has each combination once", repeated,
                     plan.settings.size()));
}

int run_sweep(const SweepArguments& a) {
  if (a.run.saving.resume && a.run.saving.overwrite)
    throw UserError(ExitCode::usage, "--resume and --overwrite exclude one another", "leave out one");
  save_rule(a.run.saving.every, {});
  duration(a.run.saving.step_timeout, "--step-timeout");
  driver::SweepOptions options;  // train_words throws before anything is made
  options.trials = {.command = train_words(a.run, a.run.jobs),
                    .folder = a.out,
                    .jobs = a.run.jobs,
                    .overwrite = a.run.saving.overwrite,
                    .interrupted = InterruptGuard::signal};
  SweepPlan plan = driver::plan_sweep({a.vary, a.strategy, a.trials, static_cast<uint64_t>(a.seed)});
  driver::ReadModel base;
  read(a.run.model, base);
  driver::require_paths(plan, a.run.model.model, read_options(a.run.model));
  driver::plan_rungs(plan, driver::Planned(base.model).plan);
  const std::string mark = mark_of(a, plan, base);
  driver::TrialsFolder folder(a.out,
                              {.what = "sweep",
                               .mark = "heddle-sweep.json",
                               .rows = "trials.jsonl",
                               .runs = "trial-",
                               .count = "trials",
                               .results = {"best.json", "best.safetensors"}},
                              a.run.saving.resume, a.run.saving.overwrite);
  require_same_sweep(a, plan, folder, mark);
  folder.begin(mark, folder.rows());
  const InterruptGuard guard;
  tell_plan(plan);
  std::optional<Table> table;
  if (!a.run.quiet) table.emplace(plan);
  options.told = [&](const SweepRow& row, const Rung& rung) {
    if (table) table->add(row, rung);
  };
  options.trials.unchanged = [&] { require_same_file(base.path, base.model.file->text); };
  const driver::SweepEnd end = driver::run_sweep(plan, folder, options);
  if (end.signal != 0) {
    print_note("interrupted after {} {}; --resume continues\n", end.rows, end.rows == 1 ? "training" : "trainings");
    return 128 + end.signal;
  }
  if (!end.best)
    throw UserError(ExitCode::failed, fmt::format("{}: no trial has ended well", folder.path()),
                    "trials.jsonl has the message of each");
  write_best(folder, *end.best);
  tell_best(a, plan, base.model.name, folder.at("best.safetensors"), *end.best);
  return 0;
}

}  // namespace

void add_sweep(CommandLine& line) {
  Command command = line.add_subcommand("sweep", "train a model with many settings, and keep the best");
  const auto a = std::make_shared<SweepArguments>();
  add_model_arguments(command, a->run.model, ShortForms::none);
  command.add_option(
      "--vary", a->vary,
      "a value and what it may be: let.width=32,64,128; train.optimizer.lr=log:1e-4..1e-1; linear:, int:");
  command
      .add_option("--strategy", a->strategy,
                  "grid: all of them (default for lists); random; halving: the best third trains on")
      .one_of({"grid", "random", "halving"});
  command.add_option("--trials", a->trials, "settings to draw").between(1, static_cast<int>(driver::kMostTrials));
  command.add_option("--seed", a->seed, "of the drawing (default 0)").between(0, 2147483647);
  command.add_option("--jobs", a->run.jobs, "processes at a time, which divide the threads (default 1)")
      .between(1, 256);
  command.add_option("-o,--out", a->out, "the folder: trials.jsonl, a run for each trial, the best weights and model")
      .takes(Takes::folder)
      .required();
  command.add_flag("--resume", a->run.saving.resume, "continue the sweep in the folder");
  command.add_flag("--overwrite", a->run.saving.overwrite, "start a new sweep in a folder that holds one");
  command.add_option("--checkpoint-every", a->run.saving.every,
                     "of each trial: \"500 steps\", \"2 epochs\", \"10 minutes\"");
  command
      .add_option("--max-memory", a->run.saving.max_memory, "end a trial whose process takes more GiB: it has failed")
      .between(0.001, 1e6);
  command.add_option("--step-timeout", a->run.saving.step_timeout, "end a trial if a step takes longer (default 10m)");
  add_device_arguments(command, a->run.device);
  command.add_option("--data", a->run.data, "the folder that holds the data files; default: the model's")
      .takes(Takes::folder);
  add_weights_arguments(command, a->run, "start each trial from these weights instead of the initializers");
  command.add_flag("--json", a->run.json, "print one JSON object on standard output: the best trial");
  command.add_flag("--quiet", a->run.quiet, "print no table, only the best trial, warnings, notes and errors");
  command.run([a] { return run_sweep(*a); });
}

}  // namespace heddle::tools
