#include "tools/command/run_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "ir/diagnostic.h"
#include "tools/command/command_line.h"

namespace heddle::tools {
namespace {

constexpr double kDefaultSeconds = 300;

[[noreturn]] void misused(const std::string& message, const std::string& help = {}) {
  throw UserError(ExitCode::usage, message, help);
}

struct Amount {
  double number = 0;
  std::string unit;
};

// "10 minutes" -> 10, "minutes". The number is not negative, and small enough for its seconds to be counted.
Amount amount(const std::string& text, const std::string& option, const std::string& example) {
  Amount found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc() || !std::isfinite(found.number) || found.number < 0)
    misused(fmt::format("{}: '{}' is no number with a unit", option, text), example);
  constexpr double kMost = 1e12;
  if (found.number > kMost) misused(fmt::format("{}: '{}' is more than {}", option, text, kMost), example);
  found.unit = text.substr(static_cast<size_t>(end - text.data()));
  while (found.unit.starts_with(' ')) found.unit.erase(0, 1);
  return found;
}

int64_t whole(const Amount& a, const std::string& text) {
  if (!(a.number >= 1 && a.number <= 1e12 && std::floor(a.number) == a.number))
    misused(fmt::format("--checkpoint-every: '{}': expected a whole number from 1 on", text));
  return static_cast<int64_t>(a.number);
}

// 0: no unit of time.
double seconds_in(const std::string& unit) {
  if (unit == "s" || unit == "second" || unit == "seconds") return 1;
  if (unit == "m" || unit == "min" || unit == "minute" || unit == "minutes") return 60;
  if (unit == "h" || unit == "hour" || unit == "hours") return 3600;
  return 0;
}

}  // namespace

void add_saving_arguments(Command& command, SavingArguments& a) {
  command.add_option("--run", a.run, "keep the run in this folder: model, log, checkpoints, best and last weights")
      .takes(Takes::folder);
  command.add_flag("--resume", a.resume, "continue the run in the folder from its last checkpoint");
  command.add_flag("--other-choices", a.other_choices,
                   "with --resume: go on with another table of --choices than the run's");
  command.add_flag("--overwrite", a.overwrite, "start a new run in a folder that holds a run");
  command.add_option("--checkpoint-every", a.every, "\"500 steps\", \"2 epochs\", \"10 minutes\" (default 5 minutes)");
  command.add_option("--max-time", a.max_time, "save and end the training after this time: \"90s\", \"30m\", \"8h\"");
  command.add_option("--max-memory", a.max_memory, "save and end the training if the process takes more GiB")
      .between(0.001, 1e6);
  command.add_option("--step-timeout", a.step_timeout,
                     "end the process if a step takes longer (default 10m; 0: wait for ever)");
}

void check_saving_arguments(const SavingArguments& a, const std::string& log) {
  if (a.resume && a.overwrite) misused("--resume and --overwrite exclude one another");
  if (a.other_choices && !a.resume) misused("--other-choices needs --resume");
  if (a.run.empty() && (a.resume || a.overwrite || !a.every.empty()))
    misused(fmt::format("{} needs --run DIR", a.resume      ? "--resume"
                                              : a.overwrite ? "--overwrite"
                                                            : "--checkpoint-every"));
  if (!a.run.empty() && !log.empty()) misused("the log of a run lies in its folder", "leave out --log");
  save_rule(a.every, {});
  duration(a.max_time, "--max-time");
  duration(a.step_timeout, "--step-timeout");
}

runtime::SaveRule save_rule(const std::string& every, const frontend::CheckpointRule& model) {
  runtime::SaveRule rule;
  if (every.empty()) {
    rule.steps = model.steps.value_or(0), rule.epochs = model.epochs.value_or(0);
    rule.seconds = model.minutes.value_or(0) * 60;
    if (rule.steps == 0 && rule.epochs == 0 && rule.seconds == 0) rule.seconds = kDefaultSeconds;
    return rule;
  }
  const std::string example = "for example --checkpoint-every \"500 steps\"; epochs, minutes and seconds count, too";
  const Amount a = amount(every, "--checkpoint-every", example);
  if (a.unit == "step" || a.unit == "steps") {
    rule.steps = whole(a, every);
  } else if (a.unit == "epoch" || a.unit == "epochs") {
    rule.epochs = whole(a, every);
  } else if (seconds_in(a.unit) > 0 && a.number > 0) {
    rule.seconds = a.number * seconds_in(a.unit);
  } else {
    misused(fmt::format("--checkpoint-every: '{}' is no number with a unit", every), example);
  }
  return rule;
}

double duration(const std::string& text, const std::string& option) {
  if (text.empty()) return 0;
  const std::string example = fmt::format("for example {} 90s, {} 30m, {} 8h", option, option, option);
  const Amount a = amount(text, option, example);
  const double unit = a.unit.empty() ? 1 : seconds_in(a.unit);
  if (unit == 0) misused(fmt::format("{}: '{}' is no time", option, text), example);
  return a.number * unit;
}

}  // namespace heddle::tools
