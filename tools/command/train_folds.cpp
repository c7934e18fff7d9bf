#include "tools/command/train_folds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "frontend/json/json.h"
#include "ir/diagnostic.h"
#include "runtime/files/write_file.h"
#include "runtime/json_text.h"
#include "tools/command/output.h"
#include "tools/command/resolved_model.h"
#include "tools/command/signals.h"
#include "tools/command/trial_words.h"
#include "tools/command/trials_mark.h"
#include "tools/driver/compile.h"
#include "tools/driver/folds.h"
#include "tools/driver/json_values.h"
#include "tools/driver/load_data.h"
#include "tools/driver/trials.h"
#include "tools/driver/trials_folder.h"

namespace heddle::tools {
namespace {

using frontend::Json;

void check_arguments(const RunArguments& a) {
  const auto misused = [](const std::string& message, const std::string& help) {
    throw UserError(ExitCode::usage, message, help);
  };
  if (a.saving.run.empty()) misused("--folds needs --run DIR", "each fold has a folder in it, and folds.json is there");
  if (!a.save.empty()) misused("--folds and --save exclude one another", "each fold's folder has its weights");
  if (!a.log.empty()) misused("--folds and --log exclude one another", "each fold's folder has its log");
  if (!a.saving.max_time.empty()) misused("--folds and --max-time exclude one another", "a signal ends it: --resume");
  if (a.stop_after > 0) misused("--folds and --stop-after exclude one another", "--epochs says how long they train");
}

struct Mark {
  std::string text;        // JSON
  std::string name;        // of the model
  std::string path, file;  // where it was read, and what was there
};

// Rows that do not make so many folds are found before there is a folder; so are those that are not there.
void require_rows(const RunArguments& a, driver::ReadModel& read_in) {
  driver::take_fold(read_in.model, {a.folds, 1});
  const driver::Planned planned(read_in.model);
  driver::read_headers({.plan = &planned.plan, .root = read_in.folder(a.data), .train = true});
}

Mark mark_of(const RunArguments& a) {
  driver::ReadModel read_in;
  read(a.model, read_in);
  const std::string model = resolved_model(*read_in.model.file, read_options(a.model));
  std::error_code ec;
  runtime::JsonObject mark;
  mark.text("format", "heddle-folds/1").text("heddle", HEDDLE_VERSION).integer("folds", a.folds);
  mark.text("data", std::filesystem::absolute(read_in.folder(a.data), ec).lexically_normal().string());
  mark.text("weights", fmt::format("{}", fmt::join(a.weights, ", "))).text("model", model);
  driver::require_trainable(read_in.model);
  require_rows(a, read_in);
  return {mark.str() + "\n", read_in.model.name, read_in.path, read_in.model.file->text};
}

// "validation: loss 0.123, accuracy 0.9"
std::string metrics_line(const Json& metrics) {
  const Json* split = metrics.find("validation");
  if (split == nullptr) return {};
  std::string line;
  for (const Json& metric : split->items)
    if (driver::is_number(metric))
      line += fmt::format("{}{} {:.4g}", line.empty() ? "" : ", ", metric.key, driver::number_of(metric));
  return line;
}

Json parse(const std::string& text, frontend::Sources& sources) {
  return frontend::parse_json(sources.add("the result of a fold", text));
}

// What of a fold's result does not depend on the moment and the machine.
std::string row_of(int64_t fold, const Json& result) {
  runtime::JsonObject row;
  row.integer("fold", fold);
  for (const char* key : {"metrics", "steps", "epochs", "best", "weights_hash"})
    if (const Json* found = result.find(key)) row.raw(key, driver::json_text(*found));
  return row.str();
}

std::string table_of(const std::vector<Json>& metrics) {
  const std::vector<driver::MetricSpread> spreads = driver::metric_spreads(metrics);
  size_t width = 6;
  for (const driver::MetricSpread& s : spreads) width = std::max(width, s.split.size() + 1 + s.name.size());
  std::string text = fmt::format("{:{}}  {:>12}  {:>12}\n", "metric", width, "mean", "std");
  for (const driver::MetricSpread& s : spreads)
    text += fmt::format("{:{}}  {:>12.5g}  {:>12.5g}\n", s.split + " " + s.name, width, s.mean, s.deviation);
  return text;
}

}  // namespace

int train_folds(const RunArguments& a) {
  check_arguments(a);
  driver::TrialsOptions options{.command = train_words(a, a.jobs), .folder = {}, .jobs = a.jobs, .interrupted = {}};
  options.command.insert(options.command.begin() + 2, fmt::format("--folds={}", a.folds));
  const Mark mark = mark_of(a);
  driver::TrialsFolder folder(a.saving.run,
                              {.what = "cross-validation",
                               .mark = "heddle-folds.json",
                               .rows = "folds.jsonl",
                               .runs = "fold-",
                               .count = "folds",
                               .results = {"folds.json"}},
                              a.saving.resume, a.saving.overwrite);
  if (!folder.mark().empty()) require_same_mark(folder.path(), folder.mark(), mark.text, {"folds", "data", "weights"});
  std::vector<std::string> rows = folder.rows();
  if (std::ssize(rows) > a.folds) rows.resize(static_cast<size_t>(a.folds));
  folder.begin(mark.text, rows);
  const InterruptGuard guard;
  frontend::Sources sources;
  const auto report = [&](const Json& row) {
    if (a.quiet) return;
    const Json* metrics = row.find("metrics");
    print_note("fold {}/{}: validation: {}\n", text_at(row, "fold"), a.folds,
               metrics == nullptr ? "" : metrics_line(*metrics));
  };
  for (const std::string& row : rows) report(parse(row, sources));
  std::vector<driver::Trial> trials;
  const auto first = std::ssize(rows) + 1;
  for (auto fold = first; fold <= a.folds; ++fold)
    trials.push_back({fmt::format("fold-{}", fold), {fmt::format("--fold={}", fold)}});
  options.folder = folder.path();
  options.overwrite = a.saving.overwrite;
  options.interrupted = InterruptGuard::signal;
  options.unchanged = [&] { require_same_file(mark.path, mark.file); };
  options.ended = [&](size_t i, const driver::TrialEnd& end) {
    if (!end.error.empty())
      throw UserError(ExitCode::failed, fmt::format("{}: {}", folder.at(trials[i].name), end.error),
                      "once that is mended, --resume continues: folds that have ended are kept");
    const std::string row = row_of(first + static_cast<int64_t>(i), parse(end.result, sources));
    folder.add(row);
    report(parse(row, sources));
  };
  if (const int signal = driver::run_trials(trials, options)) {
    print_note("interrupted after {} of {} folds; --resume continues\n", folder.rows().size(), a.folds);
    return 128 + signal;
  }
  std::vector<Json> metrics;
  for (const std::string& text : folder.rows()) {
    const Json row = parse(text, sources);
    const Json* found = row.find("metrics");
    if (found == nullptr)
      throw UserError(ExitCode::failed, fmt::format("{}: a row has no metrics", folder.at("folds.jsonl")),
                      "--overwrite starts a new cross-validation");
    metrics.push_back(*found);
  }
  runtime::JsonObject out;
  out.text("model", mark.name).integer("folds", a.folds).raw("metrics", driver::fold_statistics(metrics));
  runtime::replace_file(folder.at("folds.json"), {out.str() + "\n"});
  if (!a.quiet) print_note("{}", table_of(metrics));
  if (a.json) print_result("{}\n", out.str());
  return 0;
}

}  // namespace heddle::tools
