// heddle profile: where the time of an entry's step goes, kernel by kernel, on random inputs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "ir/check.h"
#include "runtime/files/write_file.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/output.h"
#include "tools/command/profile_text.h"
#include "tools/command/random_steps.h"
#include "tools/command/read_file.h"
#include "tools/driver/ncu.h"
#include "tools/driver/profile_json.h"

namespace heddle::tools {
namespace {

struct ProfileArguments {
  StepsRequest steps{
      .model = {}, .device = {}, .entry = "train", .weights = {}, .repeat = 64, .pipelined = false, .explain = true};
  std::string diff, trace;
  double seconds = 1;
  int rounds = 15;
  bool overwrite = false, ncu = false, json = false;
};

// Runs with and without timing of single steps alternate, so that a machine that becomes slower affects both.
driver::MeasuredRounds measure(RandomSteps& steps, const ProfileArguments& a) {
  constexpr int kMostGpuRounds = 5;  // each takes the least of several already
  const bool gpu = steps.device().target.gpu;
  const int rounds = gpu ? std::min(a.rounds, kMostGpuRounds) : a.rounds;
  double best = steps.block(1), spent = 0;
  for (int i = 0; i < 2 || spent < 0.2 * a.seconds; ++i) {
    const double s = steps.block(1);
    best = std::min(best, s), spent += s;
  }
  driver::MeasuredRounds measured;
  const double in_round = a.seconds / (2 * rounds) / std::max(best, 1e-9);
  measured.steps =
      steps.repeats_itself() ? static_cast<int64_t>(std::clamp(in_round, 1.0, static_cast<double>(a.steps.repeat))) : 1;
  if (!gpu) steps.profile(measured.steps);  // the first has lists to make
  for (int r = 0; r < rounds; ++r) {
    measured.step_seconds.push_back(steps.block(measured.steps) / static_cast<double>(measured.steps));
    measured.kernels.push_back(steps.profile(gpu ? 1 : measured.steps).steps);
  }
  return measured;
}

driver::Ceilings ceilings(const RandomSteps& steps, int threads) {
  const ir::Target& target = steps.device().target;
  if (target.gpu) return driver::ceilings_of(target);
  runtime::Peaks peaks = runtime::measure_peaks(threads);
  return {.source = "measured here", .flops = peaks.flops, .bandwidths = std::move(peaks.bandwidths)};
}

std::string note_of(const codegen::Entry& entry, const codegen::Program& program) {
  if (entry.persistent < 0) return {};
  return fmt::format(
      "note: a training runs this step as one kernel, predicted at {:.1f} us; it is profiled as its launches form",
      program.kernels[static_cast<size_t>(entry.persistent)].predicted_seconds * 1e6);
}

// --- ncu ---

void require_ncu(const ProfileArguments& a, const RandomSteps& steps) {
  if (!steps.device().target.gpu)
    throw UserError(ExitCode::usage, "--ncu counts what a GPU executes, and the device is the host",
                    "give --device cuda, or leave --ncu out");
  driver::find_ncu();
  if (a.steps.model.model == "-")
    throw UserError(ExitCode::usage,
                    "--ncu: a model on standard input cannot be read again by the program that ncu starts",
                    "save the model in a file");
}

// The same entry of the same model, as launches.
std::vector<std::string> benched(const ProfileArguments& a) {
  const ModelArguments& m = a.steps.model;
  std::vector<std::string> words = {"heddle", "bench", m.model.starts_with('-') ? "./" + m.model : m.model};
  words[0] = std::filesystem::read_symlink("/proc/self/exe");
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) words.push_back(option + "=" + value);
  };
  for (const std::string& set : m.set) add("--set", set);
  add("--epochs", m.epochs), add("--lr", m.lr), add("--batch", m.batch), add("--seed", m.seed);
  add("--memory-limit", m.memory_limit), add("--libraries", m.libraries);
  add("--choices", m.choices);
  if (m.small) words.emplace_back("--small");
  add("--device", a.steps.device.device), add("--entry", a.steps.entry);
  add("--seconds", "0.01"), add("--blocks", "7"), add("--repeat", "1");
  return words;
}

void add_counters(const ProfileArguments& a, const RandomSteps& steps, driver::Profile& p) {
  constexpr int64_t kSteps = 3;  // of the entry, behind init
  int64_t launches = 0;
  const codegen::Entry* init = steps.program().find_entry(ir::Phase::init);
  for (const codegen::Entry* e : {init, &steps.entry()})
    if (e != nullptr)
      codegen::for_each_step(e->steps, [&](const codegen::Step& step, int64_t times) {
        if (std::holds_alternative<codegen::Launch>(step.what)) launches += times * (e == init ? 1 : kSteps);
      });
  const auto counters = driver::ncu_counters(benched(a), launches);
  for (driver::ProfiledKernel& k : p.kernels)
    if (const auto found = counters.find(k.symbol); found != counters.end()) k.counters = found->second;
}

// --- files ---

// Throws where the path is a file other than an earlier trace.
void require_trace_path(const std::string& path, bool overwrite) {
  if (path == "-")
    throw UserError(ExitCode::usage, "--trace - : standard output has the table of kernels", "name a file");
  if (runtime::is_stream(path)) return;
  runtime::require_replaceable(path);
  if (overwrite) return;
  std::string head(driver::kTraceHead.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(in.gcount()));
  if (!head.empty() && head != driver::kTraceHead)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: cannot be written: it is no earlier trace of heddle profile", path),
                    "name another file, or allow it to be replaced: --overwrite");
}

// A saved profile stands where a model would: its first bytes say which it is.
bool names_profile(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return false;
  std::string head(64, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return driver::is_profile(head);
}

driver::Profile read_saved(const std::string& path) {
  const SourceFile file = read_file(path);
  return driver::read_profile(file);
}

driver::Profile measured_profile(const ProfileArguments& a) {
  StepsRequest request = a.steps;
  request.device.launches = true;
  RandomSteps steps(request);
  if (a.ncu) require_ncu(a, steps);
  const driver::MeasuredRounds measured = measure(steps, a);
  driver::Profile p = driver::join(steps.compiled(), steps.entry(), steps.device().target, measured,
                                   ceilings(steps, request.device.threads));
  p.device = steps.device().description(), p.batch = steps.batch();
  p.note = note_of(steps.entry(), steps.program());
  if (a.ncu) add_counters(a, steps, p);
  if (!a.trace.empty()) {
    constexpr int64_t kSteps = 1;
    runtime::write_file(a.trace,
                        driver::trace_json(p, steps.device().target.gpu ? std::vector<runtime::StepSpan>{}
                                                                        : steps.profile(kSteps, /*spans=*/true).spans));
  }
  return p;
}

void profile(const ProfileArguments& a) {
  const bool saved = names_profile(a.steps.model.model);
  if (saved && (a.ncu || !a.trace.empty()))
    throw UserError(
        ExitCode::usage,
        fmt::format("'{}' is a saved profile: nothing runs that --ncu or --trace could look at", a.steps.model.model),
        "give the model");
  if (!a.trace.empty()) {
    require_different("--trace", a.trace, "the model", a.steps.model.model);
    require_different("--trace", a.trace, "--diff", a.diff);
    require_trace_path(a.trace, a.overwrite);
  }
  std::optional<driver::Profile> before;
  if (!a.diff.empty()) before = read_saved(a.diff);
  const driver::Profile p = saved ? read_saved(a.steps.model.model) : measured_profile(a);
  if (before)
    write_result(a.json ? difference_json(*before, p) + "\n" : difference_text(*before, p));
  else
    write_result(a.json ? driver::profile_json(p) + "\n" : profile_text(p));
}

}  // namespace

void add_profile(CommandLine& line) {
  Command command = line.add_subcommand("profile", "the time of each kernel of an entry's step, and what bounds it");
  const auto a = std::make_shared<ProfileArguments>();
  add_steps_arguments(command, a->steps);
  command
      .add_option("--weights", a->steps.weights,
                  "the weights (safetensors); again: adapters of train.lora; default: initial values")
      .takes(Takes::file);
  command.add_option("--seconds", a->seconds, "seconds to measure, about (default 1)").between(0.01, 3600.0);
  command
      .add_option("--rounds", a->rounds,
                  "measured rounds, the middle third of which counts (default 15; a GPU takes 5 at most)")
      .between(3, 1000);
  command
      .add_option("--diff", a->diff, "compare with this profile, which --json printed; MODEL may be such a file, too")
      .takes(Takes::file);
  command.add_option("--trace", a->trace, "write a time line for Perfetto or chrome://tracing to this file")
      .takes(Takes::file);
  command.add_flag("--overwrite", a->overwrite, "with --trace: replace a file that is no earlier trace");
  command.add_flag("--ncu", a->ncu, "on a GPU: add the counters of NVIDIA's ncu, which runs the entry again");
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.run([a] { profile(*a); });
}

}  // namespace heddle::tools
