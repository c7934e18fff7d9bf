// heddle sweep: many trainings of one model with other settings, and the best of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "ir/diagnostic.h"
#include "runtime/files/write_file.h"
#include "runtime/json_text.h"
#include "runtime/train/best.h"
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
#include "tools/driver/json_values.h"
#include "tools/driver/search_space.h"
#include "tools/driver/trials.h"
#include "tools/driver/trials_folder.h"

namespace heddle::tools {
namespace {

using driver::Rung;
using driver::Setting;
using driver::Variable;
using frontend::Json;

struct SweepArguments {
  RunArguments run;
  std::vector<std::string> vary;
  std::string strategy, out;
  int trials = 0, seed = 0;
};

// One training of a rung, as its line in the trials file has it.
struct Row {
  int64_t trial = 0;
  std::optional<double> value;  // of its best epoch; nothing where it failed
  std::string error;
};

struct Sweep {
  std::vector<Variable> variables;
  std::string strategy = {};  // "grid", "random" or "halving"
  std::vector<Setting> settings = {};
  std::vector<Rung> rungs = {};      // one of no epochs where each trial trains as long as its model says
  std::string name = {}, mark = {};  // of the model, of the folder
  runtime::BestRule rule = {};
  bool validates = false;
};

[[noreturn]] void misused(const std::string& message, const std::string& help) {
  throw UserError(ExitCode::usage, message, help);
}

std::vector<Variable> read_variables(const SweepArguments& a) {
  if (a.vary.empty())
    misused("nothing varies", "for example --vary train.optimizer.lr=log:1e-4..1e-1 --vary let.width=32,64,128");
  std::vector<Variable> variables;
  for (const std::string& text : a.vary) {
    Variable v = driver::parse_variable(text);
    if (std::ranges::find(variables, v.path, &Variable::path) != variables.end())
      misused(fmt::format("--vary: {} is varied twice", v.path), "give all its values in one --vary");
    if (v.path.starts_with("train.early_stop"))
      misused(fmt::format("--vary: {} says how trials are compared", v.path),
              "--set gives it one value for all trials");
    variables.push_back(std::move(v));
  }
  return variables;
}

void choose_strategy(const SweepArguments& a, Sweep& sweep) {
  const std::optional<int64_t> size = driver::grid_size(sweep.variables);
  sweep.strategy = !a.strategy.empty() ? a.strategy : size && a.trials == 0 ? "grid" : "random";
  if (sweep.strategy == "grid") {
    if (!size)
      misused(fmt::format("a grid needs few values of each --vary, and this one has more than {}", driver::kMostTrials),
              "lists a,b,c; or --strategy random, which takes ranges");
    if (a.trials != 0)
      misused(fmt::format("--trials: a grid has {} trials of its own", *size), "--strategy random draws some of them");
    sweep.settings = driver::grid(sweep.variables);
  } else {
    if (a.trials == 0) misused(fmt::format("--strategy {} needs --trials", sweep.strategy), "for example --trials 30");
    sweep.settings = driver::drawn(sweep.variables, a.trials, static_cast<uint64_t>(a.seed));
  }
}

// Throws UserError where the model cannot be read so.
void try_to_read(const SweepArguments& a, const Sweep& sweep, size_t first, const Setting& values) {
  frontend::ReadOptions options = read_options(a.run.model);
  for (size_t i = 0; i < values.size(); ++i)
    options.short_forms.push_back({"--vary", sweep.variables[first + i].path, values[i]});
  driver::ReadModel model;
  driver::read_model(model, a.run.model.model, options);
}

bool can_read(const SweepArguments& a, const Sweep& sweep, size_t first, const Setting& values) {
  try {
    try_to_read(a, sweep, first, values);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// A path that no value can be given to is an error of the command, not of each trial. Some values may need another one's:
// what can be read in some trial is a path.
void require_paths(const SweepArguments& a, const Sweep& sweep) {
  constexpr size_t kTried = 64;
  for (size_t v = 0; v < sweep.variables.size(); ++v) {
    const std::vector<std::string> values = driver::samples(sweep.variables[v]);
    const auto is_read = [&](const std::string& value) { return can_read(a, sweep, v, {value}); };
    if (std::ranges::any_of(values.begin(), values.begin() + std::min<std::ptrdiff_t>(std::ssize(values), kTried),
                            is_read))
      continue;
    bool found = false;
    for (size_t i = 0; i < std::min(kTried, sweep.settings.size()) && !found; ++i)
      found = can_read(a, sweep, 0, sweep.settings[i]);
    if (!found) try_to_read(a, sweep, v, {values.front()});
  }
}

Sweep make_sweep(const SweepArguments& a) {
  Sweep sweep{.variables = read_variables(a)};
  choose_strategy(a, sweep);
  driver::ReadModel base;
  read(a.run.model, base);
  require_paths(a, sweep);
  const frontend::TrainingPlan plan = driver::Planned(base.model).plan;
  sweep.name = base.model.name;
  sweep.rule = driver::best_rule(plan);
  sweep.validates = plan.data.validation || plan.data.validation_fraction > 0;
  sweep.rungs = {{std::ssize(sweep.settings), 0}};
  if (sweep.strategy == "halving") {
    for (const Variable& v : sweep.variables)
      if (v.path == "train.epochs" || v.path == "train.steps")
        misused(fmt::format("--vary {}: halving trains trials for the same number of epochs", v.path),
                "--set gives it one value for all trials");
    if (!plan.epochs || plan.steps)
      misused("--strategy halving needs a model whose length is in epochs alone",
              "--set train.epochs=N --set train.steps=null");
    sweep.rungs = driver::halving_rungs(std::ssize(sweep.settings), *plan.epochs);
  }
  std::error_code ec;
  runtime::JsonObject mark;
  mark.text("format", "heddle-sweep/1").text("heddle", HEDDLE_VERSION).text("strategy", sweep.strategy);
  mark.integer("seed", a.seed).integer("trials", std::ssize(sweep.settings));
  std::vector<std::string> vary;
  for (const std::string& text : a.vary) vary.push_back(runtime::json_quoted(text));
  mark.raw("vary", runtime::json_list(vary));
  mark.text("data", std::filesystem::absolute(base.folder(a.run.data), ec).lexically_normal().string());
  mark.text("weights", a.run.weights);
  sweep.mark = mark.text("model", resolved_model(*base.model.file, read_options(a.run.model))).str() + "\n";
  return sweep;
}

std::string folder_of(int64_t trial) { return fmt::format("trial-{:04}", trial + 1); }

// Values are shown, and kept, as JSON where they are JSON.
std::string value_json(const std::string& text) {
  const SourceFile source{"value", text};
  try {
    return driver::json_text(frontend::parse_json(source));
  } catch (const UserError&) {
    return runtime::json_quoted(text);
  }
}

// What of a trial does not depend on the moment and the machine.
std::string row_text(const Sweep& sweep, int64_t trial, size_t rung, const driver::TrialEnd& end) {
  runtime::JsonObject settings, row;
  for (size_t v = 0; v < sweep.variables.size(); ++v)
    settings.raw(sweep.variables[v].path, value_json(sweep.settings[static_cast<size_t>(trial)][v]));
  row.integer("trial", trial + 1);
  if (sweep.strategy == "halving") row.integer("rung", static_cast<int64_t>(rung) + 1);
  row.raw("settings", settings.str());
  if (!end.error.empty()) return row.text("error", end.error).str();
  const SourceFile source{"the result of a trial", end.result};
  const Json result = frontend::parse_json(source);
  const Json* best = result.find("best");
  const Json* value = best == nullptr ? nullptr : best->find("value");
  if (value == nullptr || !driver::is_number(*value))
    return row.text("error", fmt::format("'{}' is no finite number", sweep.rule.metric)).str();
  row.raw("value", driver::json_text(*value)).raw("epoch", driver::json_text(*best->find("epoch")));
  for (const char* key : {"epochs", "steps", "metrics", "weights_hash"})
    if (const Json* found = result.find(key)) row.raw(key, driver::json_text(*found));
  return row.str();
}

Row read_row(const std::string& text, int64_t trial, const std::string& path) {
  const SourceFile source{path, text};
  const Json json = frontend::parse_json(source);
  Row row{.trial = trial, .value = {}, .error = text_at(json, "error")};
  if (const Json* value = json.find("value"); value != nullptr && driver::is_number(*value))
    row.value = driver::number_of(*value);
  if (text_at(json, "trial") != std::to_string(trial + 1) || row.value.has_value() != row.error.empty())
    throw UserError(ExitCode::failed, fmt::format("{}: is damaged at trial {}", path, trial + 1),
                    "--overwrite starts a new sweep");
  return row;
}

// The lines of a table, as trials end.
class Table {
 public:
  Table(const Sweep& sweep, bool quiet) : sweep_(sweep), quiet_(quiet) {
    constexpr size_t kLeast = 10;
    for (const Variable& v : sweep.variables) widths_.push_back(std::max(kLeast, v.path.size()));
    for (const Setting& s : sweep.settings)
      for (size_t v = 0; v < s.size(); ++v) widths_[v] = std::max(widths_[v], std::min<size_t>(s[v].size(), 24));
    std::string head = fmt::format("{:>5}  ", "trial");
    for (size_t v = 0; v < widths_.size(); ++v) head += fmt::format("{:>{}}  ", sweep.variables[v].path, widths_[v]);
    if (halves()) head += fmt::format("{:>6}  ", "epochs");
    if (!quiet_) print_note("{}{}\n", head, measure(sweep));
  }
  static std::string measure(const Sweep& sweep) {
    return fmt::format("{} {}", sweep.validates ? "validation" : "train", sweep.rule.metric);
  }
  void add(const Row& row, const Rung& rung) const {
    if (quiet_) return;
    std::string line = fmt::format("{:>5}  ", row.trial + 1);
    const Setting& setting = sweep_.settings[static_cast<size_t>(row.trial)];
    for (size_t v = 0; v < widths_.size(); ++v) line += fmt::format("{:>{}}  ", setting[v], widths_[v]);
    if (halves()) line += fmt::format("{:>6}  ", rung.epochs);
    print_note("{}{}\n", line, row.value ? fmt::format("{:.6g}", *row.value) : "failed: " + row.error);
  }

 private:
  bool halves() const { return sweep_.strategy == "halving"; }
  const Sweep& sweep_;
  bool quiet_;
  std::vector<size_t> widths_;
};

// The best first; of equal ones the earlier trial. Those that failed are left out.
std::vector<Row> ranked(const Sweep& sweep, std::vector<Row> rows) {
  std::erase_if(rows, [](const Row& row) { return !row.value; });
  std::ranges::stable_sort(
      rows, [&](const Row& a, const Row& b) { return sweep.rule.higher ? *a.value > *b.value : *a.value < *b.value; });
  return rows;
}

class SweepRun {
 public:
  SweepRun(const SweepArguments& a, const Sweep& sweep, driver::TrialsFolder& folder)
      : sweep_(sweep), folder_(folder), table_(sweep, a.run.quiet) {
    options_.command = train_words(a.run, a.run.jobs);
    options_.folder = folder.path();
    options_.jobs = a.run.jobs;
    options_.overwrite = a.run.saving.overwrite;
    options_.interrupted = InterruptGuard::signal;
  }

  // 0, or a signal.
  int run() {
    std::vector<int64_t> trials(sweep_.settings.size());
    for (size_t i = 0; i < trials.size(); ++i) trials[i] = static_cast<int64_t>(i);
    for (size_t r = 0; r < sweep_.rungs.size() && !trials.empty(); ++r) {
      if (const int signal = run_rung(r, trials)) return signal;
      std::vector<Row> rows = ranked(sweep_, rows_);
      if (!rows.empty()) best_ = rows.front();
      if (r + 1 == sweep_.rungs.size()) break;
      if (std::ssize(rows) > sweep_.rungs[r + 1].trials) rows.resize(static_cast<size_t>(sweep_.rungs[r + 1].trials));
      trials.clear();
      for (const Row& row : rows) trials.push_back(row.trial);
      std::ranges::sort(trials);
    }
    return 0;
  }
  const std::optional<Row>& best() const { return best_; }
  size_t ended() const { return used_; }

 private:
  int run_rung(size_t r, const std::vector<int64_t>& trials) {
    const Rung& rung = sweep_.rungs[r];
    const std::string path = folder_.at("trials.jsonl");
    rows_.clear();
    while (rows_.size() < trials.size() && used_ < folder_.rows().size())
      take(read_row(folder_.rows()[used_], trials[rows_.size()], path), rung);
    std::vector<driver::Trial> left;
    const size_t first = rows_.size();
    for (size_t i = first; i < trials.size(); ++i) left.push_back(trial(trials[i], rung));
    driver::TrialsOptions options = options_;
    if (r > 0) options.overwrite = false;  // it goes on from the rung before
    options.ended = [&](size_t i, const driver::TrialEnd& end) {
      const std::string text = row_text(sweep_, trials[first + i], r, end);
      folder_.add(text);
      take(read_row(text, trials[first + i], path), rung);
    };
    return driver::run_trials(left, options);
  }

  driver::Trial trial(int64_t t, const Rung& rung) const {
    driver::Trial trial{folder_of(t), {}};
    for (size_t v = 0; v < sweep_.variables.size(); ++v)
      trial.words.push_back(
          fmt::format("--set={}={}", sweep_.variables[v].path, sweep_.settings[static_cast<size_t>(t)][v]));
    if (rung.epochs > 0) trial.words.push_back(fmt::format("--stop-after={}", rung.epochs));
    return trial;
  }

  void take(Row row, const Rung& rung) {
    table_.add(row, rung);
    rows_.push_back(std::move(row));
    ++used_;
  }

  const Sweep& sweep_;
  driver::TrialsFolder& folder_;
  Table table_;
  driver::TrialsOptions options_;
  std::vector<Row> rows_;  // of the rung
  std::optional<Row> best_;
  size_t used_ = 0;  // rows of all rungs
};

// The weights of the trial's best epoch, and its model with its settings.
void write_best(const driver::TrialsFolder& folder, const Row& best) {
  const std::string run = folder.at(folder_of(best.trial));
  runtime::write_safetensors(folder.at("best.safetensors"), runtime::read_safetensors(run + "/best.safetensors"));
  runtime::replace_file(folder.at("best.json"), {read_file(run + "/model.json").text});
}

int run_sweep(const SweepArguments& a) {
  if (a.run.saving.resume && a.run.saving.overwrite)
    misused("--resume and --overwrite exclude one another", "leave out one");
  save_rule(a.run.saving.every, {});
  duration(a.run.saving.step_timeout, "--step-timeout");
  train_words(a.run, a.run.jobs);  // throws before anything is made
  const Sweep sweep = make_sweep(a);
  driver::TrialsFolder folder(a.out, {"sweep", "heddle-sweep.json", "trials.jsonl"}, a.run.saving.resume,
                              a.run.saving.overwrite);
  std::vector<const char*> keys{"strategy", "seed", "vary", "data", "weights"};
  if (sweep.strategy != "random") keys.push_back("trials");  // more may be drawn; those before stay the same
  if (!folder.mark().empty()) require_same_mark(folder.path(), folder.mark(), sweep.mark, keys);
  if (sweep.strategy == "random" && folder.rows().size() > sweep.settings.size())
    throw UserError(ExitCode::failed,
                    fmt::format("{}: {} trials have ended in this folder, more than --trials {}", folder.path(),
                                folder.rows().size(), a.trials),
                    "--trials takes this number or a larger one");
  folder.begin(sweep.mark, folder.rows());
  const InterruptGuard guard;
  if (!sweep.validates) note("the model has no validation rows: trials are compared by their training rows");
  SweepRun run(a, sweep, folder);
  if (const int signal = run.run()) {
    print_note("interrupted after {} {}; --resume continues\n", run.ended(),
               run.ended() == 1 ? "training" : "trainings");
    return 128 + signal;
  }
  if (!run.best())
    throw UserError(ExitCode::failed, fmt::format("{}: no trial has ended well", folder.path()),
                    "trials.jsonl has the message of each");
  const Row& best = *run.best();
  write_best(folder, best);
  std::string settings;
  runtime::JsonObject out, values;
  for (size_t v = 0; v < sweep.variables.size(); ++v) {
    const std::string& value = sweep.settings[static_cast<size_t>(best.trial)][v];
    settings += fmt::format("{}{}={}", v == 0 ? "" : ", ", sweep.variables[v].path, value);
    values.raw(sweep.variables[v].path, value_json(value));
  }
  print_note("best: trial {}: {} {:.6g} with {}\n", best.trial + 1, Table::measure(sweep), *best.value, settings);
  if (a.run.json) {
    out.text("model", sweep.name).integer("trials", std::ssize(sweep.settings)).integer("best", best.trial + 1);
    out.number("value", *best.value).raw("settings", values.str());
    print_result("{}\n", out.text("weights", folder.at("best.safetensors")).str());
  }
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
