#include "tools/driver/sweep.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/diagnostic.h"
#include "runtime/json_text.h"
#include "tools/driver/json_values.h"

namespace heddle::driver {
namespace {

using frontend::Json;

bool is_integer(const Json* json, int64_t value) {
  return json != nullptr && json->kind == Json::Kind::integer && json->integer == value;
}

class SweepRun {
 public:
  SweepRun(const SweepPlan& plan, TrialsFolder& folder, const SweepOptions& options)
      : plan_(plan), folder_(folder), options_(options), progress_(plan.rungs, plan.rule.higher) {}

  SweepEnd run() {
    SweepEnd end;
    take_old_rows();
    while (!progress_.ended() && end.signal == 0) end.signal = run_rung();
    end.rows = progress_.taken(), end.best = progress_.best();
    return end;
  }

 private:
  void take_old_rows() {
    for (const std::string& text : folder_.rows()) {
      if (progress_.ended())
        throw UserError(ExitCode::failed,
                        fmt::format("{}: has {} lines, and the sweep {}", folder_.at("trials.jsonl"),
                                    folder_.rows().size(), progress_.taken()),
                        "--overwrite starts a new sweep");
      take(text);
    }
  }

  int run_rung() {
    const std::vector<int64_t> left = progress_.left();
    const size_t rung = progress_.rung_number();
    std::vector<Trial> trials;
    trials.reserve(left.size());
    for (const int64_t t : left) trials.push_back(trial(t));
    TrialsOptions options = options_.trials;
    options.folder = folder_.path();
    if (rung > 0) options.overwrite = false;  // it goes on from the rung before
    options.ended = [&](size_t i, const TrialEnd& end) {
      const std::string text = row_text(plan_, left[i], rung, end);
      folder_.add(text);
      take(text);
    };
    return run_trials(trials, options);
  }

  Trial trial(int64_t t) const {
    Trial trial{trial_name(t), {}};
    for (size_t v = 0; v < plan_.variables.size(); ++v)
      trial.words.push_back(
          fmt::format("--set={}={}", plan_.variables[v].path, plan_.settings[static_cast<size_t>(t)][v]));
    if (progress_.rung().epochs > 0) trial.words.push_back(fmt::format("--stop-after={}", progress_.rung().epochs));
    return trial;
  }

  void take(const std::string& text) {
    const int64_t trial = progress_.left().front();
    const std::optional<SweepRow> row = read_row(plan_, text, trial, progress_.rung_number());
    if (!row)
      throw UserError(ExitCode::failed,
                      fmt::format("{}:{}: is damaged: expected the line of trial {}", folder_.at("trials.jsonl"),
                                  progress_.taken() + 1, trial + 1),
                      "--overwrite starts a new sweep");
    const Rung rung = progress_.rung();
    progress_.take(*row);
    if (options_.told) options_.told(*row, rung);
  }

  const SweepPlan& plan_;
  TrialsFolder& folder_;
  const SweepOptions& options_;
  SweepProgress progress_;
};

}  // namespace

SweepEnd run_sweep(const SweepPlan& plan, TrialsFolder& folder, const SweepOptions& options) {
  return SweepRun(plan, folder, options).run();
}

std::string trial_name(int64_t trial) { return fmt::format("trial-{:04}", trial + 1); }

std::string row_text(const SweepPlan& plan, int64_t trial, size_t rung, const TrialEnd& end) {
  runtime::JsonObject settings, row;
  for (size_t v = 0; v < plan.variables.size(); ++v)
    settings.raw(plan.variables[v].path, value_json(plan.settings[static_cast<size_t>(trial)][v]));
  row.integer("trial", trial + 1);
  if (plan.halves()) row.integer("rung", static_cast<int64_t>(rung) + 1);
  row.raw("settings", settings.str());
  if (!end.error.empty()) return row.text("error", end.error).str();
  const SourceFile source{"the result of a trial", end.result};
  const Json result = frontend::parse_json(source);
  const Json* best = result.find("best");
  const Json* value = best == nullptr ? nullptr : best->find("value");
  if (value == nullptr || !is_number(*value) || !std::isfinite(number_of(*value)))
    return row.text("error", fmt::format("'{}' is no finite number", plan.rule.metric)).str();
  row.raw("value", json_text(*value)).raw("epoch", json_text(*best->find("epoch")));
  for (const char* key : {"epochs", "steps", "metrics", "weights_hash"})
    if (const Json* found = result.find(key)) row.raw(key, json_text(*found));
  return row.str();
}

std::optional<SweepRow> read_row(const SweepPlan& plan, const std::string& text, int64_t trial, size_t rung) {
  const SourceFile source{"a row", text};
  const Json json = frontend::parse_json(source);
  SweepRow row{.trial = trial, .value = {}};
  const Json *value = json.find("value"), *error = json.find("error");
  if (value != nullptr && is_number(*value)) row.value = number_of(*value);
  if (error != nullptr && error->kind == Json::Kind::text) row.error = error->text;
  const bool of_rung = !plan.halves() || is_integer(json.find("rung"), static_cast<int64_t>(rung) + 1);
  if (!is_integer(json.find("trial"), trial + 1) || !of_rung || row.value.has_value() != row.error.empty()) return {};
  return row;
}

}  // namespace heddle::driver
