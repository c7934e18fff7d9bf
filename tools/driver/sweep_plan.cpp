#include "tools/driver/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/diagnostic.h"
#include "tools/driver/model_file.h"
#include "tools/driver/session.h"

namespace heddle::driver {
namespace {

[[noreturn]] void misused(const std::string& message, const std::string& help) {
  throw UserError(ExitCode::usage, message, help);
}

// What holds "early_stop" would compare trials by different measures.
bool compares_trials(const std::string& path) {
  return path == "train" || path == "train.early_stop" || path.starts_with("train.early_stop.");
}

std::vector<Variable> read_variables(const std::vector<std::string>& vary) {
  if (vary.empty())
    misused("nothing varies", "for example --vary train.optimizer.lr=log:1e-4..1e-1 --vary let.width=32,64,128");
  std::vector<Variable> variables;
  for (const std::string& text : vary) {
    Variable v = parse_variable(text);
    if (std::ranges::find(variables, v.path, &Variable::path) != variables.end())
      misused(fmt::format("--vary: {} is varied twice", v.path), "give all its values in one --vary");
    if (compares_trials(v.path))
      misused(fmt::format("--vary: {} says how trials are compared", v.path),
              "--set gives it one value for all trials");
    variables.push_back(std::move(v));
  }
  return variables;
}

bool has_ends(const Variable& v) { return v.scale == Scale::list || v.scale == Scale::whole; }

[[noreturn]] void refuse_uncounted(const SweepPlan& plan, const SweepRequest& request) {
  if (request.strategy.empty() && std::ranges::all_of(plan.variables, has_ends))
    misused(fmt::format("a grid of these values has more than {} trials", kMostTrials),
            "--trials 30 draws some of them");
  misused(fmt::format("--strategy {} needs --trials", plan.strategy), "for example --trials 30");
}

void take_grid(SweepPlan& plan, const SweepRequest& request, std::optional<int64_t> size) {
  if (!size)
    misused(fmt::format("a grid needs few values of each --vary, and this one has more than {}", kMostTrials),
            "lists a,b,c; or --strategy random, which takes ranges");
  if (request.trials != 0)
    misused(fmt::format("--trials: a grid has {} trials of its own", *size), "--strategy random draws some of them");
  plan.settings = grid(plan.variables);
}

// --- which paths there are ---

class Paths {
 public:
  Paths(const SweepPlan& plan, const std::string& model, const frontend::ReadOptions& options)
      : plan_(plan), model_(model), options_(options) {}

  // Some values may need another variable's: what can be read in some trial is a path.
  void require(size_t variable) const {
    const std::vector<std::string> values = samples(plan_.variables[variable]);
    const auto few = [](const auto& all) { return all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), kTried); };
    if (std::any_of(values.begin(), few(values), [&](const auto& v) { return can_read(variable, {v}); })) return;
    const auto& settings = plan_.settings;
    if (std::any_of(settings.begin(), few(settings), [&](const Setting& s) { return can_read(0, s); })) return;
    read(variable, {values.front()});
  }

 private:
  static constexpr std::ptrdiff_t kTried = 64;
  // Throws UserError where the model cannot be read with values of the variables from `first` on.
  void read(size_t first, const Setting& values) const {
    frontend::ReadOptions options = options_;
    for (size_t i = 0; i < values.size(); ++i)
      options.short_forms.push_back({"--vary", plan_.variables[first + i].path, values[i]});
    ReadModel model;
    read_model(model, model_, options);
  }
  bool can_read(size_t first, const Setting& values) const {
    try {
      read(first, values);
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  const SweepPlan& plan_;
  const std::string& model_;
  const frontend::ReadOptions& options_;
};

}  // namespace

SweepPlan plan_sweep(const SweepRequest& request) {
  SweepPlan plan{.variables = read_variables(request.vary)};
  const std::optional<int64_t> size = grid_size(plan.variables);
  plan.strategy = !request.strategy.empty() ? request.strategy : size && request.trials == 0 ? "grid" : "random";
  if (plan.strategy == "grid") {
    take_grid(plan, request, size);
  } else {
    if (request.trials == 0) refuse_uncounted(plan, request);
    plan.settings = drawn(plan.variables, request.trials, request.seed);
  }
  plan.rungs = {{std::ssize(plan.settings), 0}};
  return plan;
}

void require_paths(const SweepPlan& plan, const std::string& model, const frontend::ReadOptions& options) {
  const Paths paths(plan, model, options);
  for (size_t v = 0; v < plan.variables.size(); ++v) paths.require(v);
}

void plan_rungs(SweepPlan& plan, const frontend::TrainingPlan& training) {
  plan.rule = best_rule(training);
  plan.validates = training.data.validation || training.data.validation_fraction > 0;
  if (!plan.halves()) return;
  for (const Variable& v : plan.variables)
    if (v.path == "train.epochs" || v.path == "train.steps")
      misused(fmt::format("--vary {}: halving trains trials for the same number of epochs", v.path),
              "--set gives it one value for all trials");
  if (!training.epochs || training.steps)
    misused("--strategy halving needs a model whose length is in epochs alone",
            "--set train.epochs=N --set train.steps=null");
  plan.rungs = halving_rungs(std::ssize(plan.settings), *training.epochs);
}

int64_t repeated_settings(const SweepPlan& plan) {
  const std::set<Setting> different(plan.settings.begin(), plan.settings.end());
  return std::ssize(plan.settings) - std::ssize(different);
}

}  // namespace heddle::driver
