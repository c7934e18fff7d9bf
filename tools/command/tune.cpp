// heddle tune: measures the candidates of an entry's kernels, and writes a table of what is faster here.
#include "tools/driver/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "codegen/predict.h"
#include "ir/diagnostic.h"
#include "ir/kernel/cost.h"
#include "runtime/files/write_file.h"
#include "runtime/json_text.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/output.h"
#include "tools/command/random_steps.h"
#include "tools/command/run_arguments.h"
#include "tools/driver/profile.h"

namespace heddle::tools {
namespace {

using driver::TuneClock;

struct TuneArguments {
  StepsRequest steps;
  std::string out, max_time = "60s";
  bool overwrite = false;
};

// The decisions of a program, each body once.
class Decisions {
 public:
  passes::Decided hear() {
    return [this](const passes::Decision& d) {
      if (d.candidates.size() < 2 || done_.contains(d.body)) return;
      const auto [known, is_new] = at_.emplace(d.body, found_.size());
      if (is_new)
        found_.push_back(d);
      else
        found_[known->second].uses += d.uses;
    };
  }
  // Those that were heard since, the longest first.
  std::vector<passes::Decision> take() {
    for (const passes::Decision& d : found_) done_.insert(d.body);
    at_.clear();
    std::vector<passes::Decision> taken = std::exchange(found_, {});
    std::ranges::stable_sort(taken, std::ranges::greater(), [](const passes::Decision& d) {
      const ir::Cost cost = ir::moved_and_computed(d.kernel);
      return static_cast<double>(d.uses) * (cost.flops + static_cast<double>(cost.bytes()));
    });
    return taken;
  }

 private:
  std::vector<passes::Decision> found_;
  std::map<std::string, size_t> at_;
  std::set<std::string> done_;
};

constexpr double kMostSeconds = 1e8;  // three years: a clock counts nanoseconds

// A step as a whole: with what is usual, and with what was chosen.
struct TunedStep {
  double before = 0, after = 0;  // seconds
  size_t rounds = 0;
  bool dropped = false;  // the choices, since the step was slower with them
};

class Tuner {
 public:
  explicit Tuner(const TuneArguments& a)
      : a_(a),
        begin_(TuneClock::now()),
        seconds_(std::min(duration(a.max_time, "--max-time"), kMostSeconds)),
        before_(load({}, codegen::OneKernel::where_faster)) {
    options_ = compile_options(a.steps.model);
    options_.tell = {};
    options_.target = before_->device().target;
    choices_.libraries = options_.libraries = driver::used_libraries(options_);
  }

  // A different choice may lead to kernels that have not been measured; these are measured next.
  void measure_kernels() {
    constexpr int kMostTimes = 3;
    for (int i = 0; i < kMostTimes; ++i) {
      const std::vector<passes::Decision> next = decisions_.take();
      if (next.empty()) return;
      const bool changed = measure(next);
      if (!changed) return;
      load_after();
    }
  }

  void measure_step() {
    if (std::ranges::none_of(kernels_, changes))
      after_.reset();
    else if (!after_)
      load_after();
    choose_form();
    if (!after_) return measure_alone();
    const auto times = take_turns({before_.get(), after_.get()});
    step_ = {driver::median(times[0]), driver::median(times[1]), times[0].size(), false};
    if (step_.after <= step_.before) return;
    step_.dropped = true, step_.after = step_.before;
    for (driver::TunedKernel& k : kernels_) k.chosen = k.usual;
    make_choices();
    for (auto& [body, form] : forms_) form.choice.chosen = form.usual;
  }

  std::string table() const;
  std::string json() const;

 private:
  struct Form {
    passes::MeasuredChoice choice;
    std::string usual;
  };

  static bool changes(const driver::TunedKernel& k) { return k.chosen != k.usual; }
  TuneClock::time_point at(double share) const {
    return begin_ + std::chrono::duration_cast<TuneClock::duration>(std::chrono::duration<double>(share * seconds_));
  }

  StepsRequest request_for(const driver::Choices& choices, codegen::OneKernel one_kernel) {
    StepsRequest request = a_.steps;
    request.choices = choices, request.decided = decisions_.hear(), request.one_kernel = one_kernel;
    request.explain = true;
    return request;
  }

  // Loads a program and finishes one step, so that nothing is under way when another program frees its memory.
  std::unique_ptr<RandomSteps> load(const driver::Choices& choices, codegen::OneKernel one_kernel) {
    auto steps = std::make_unique<RandomSteps>(request_for(choices, one_kernel));
    steps->block(1);
    return steps;
  }

  // A fifth of the time is left for the step. True where a choice changed.
  bool measure(const std::vector<passes::Decision>& next) {
    constexpr double kOfKernels = 0.8;
    bool changed = false;
    for (size_t i = 0; i < next.size(); ++i) {
      const auto now = TuneClock::now();
      const auto left = std::max(at(kOfKernels) - now, TuneClock::duration(0));
      const auto end = now + left / static_cast<TuneClock::rep>(next.size() - i);
      kernels_.push_back(driver::tune_kernel(next[i], options_, a_.steps.device, end));
      changed = changed || changes(kernels_.back());
    }
    make_choices();
    return changed;
  }

  void make_choices() {
    choices_.kernels.clear();
    for (const driver::TunedKernel& k : kernels_)
      if (k.measured()) choices_.kernels[k.decision.body] = driver::choice_of(k);
  }

  void load_after() { after_ = load(choices_, codegen::OneKernel::where_faster); }

  // Of a GPU: one kernel for the whole step, or a launch for each.
  void choose_form() {
    RandomSteps& now = after_ ? *after_ : *before_;
    if (!now.device().target.gpu || now.entry().fed_rows == 0 || TuneClock::now() >= at(1)) return;
    const bool one = now.entry().persistent >= 0;
    auto other = load(choices_, one ? codegen::OneKernel::nowhere : codegen::OneKernel::where_possible);
    if ((other->entry().persistent >= 0) == one) return;
    const driver::Verdict verdict = driver::judge(take_turns({&now, other.get()}), 0);
    const std::string usual = one ? driver::kOneKernel : driver::kLaunches;
    const std::string others = one ? driver::kLaunches : driver::kOneKernel;
    Form form{.choice = {.chosen = verdict.chosen == 0 ? usual : others,
                         .seconds = {{usual, verdict.medians[0]}, {others, verdict.medians[1]}},
                         .origin = {}},
              .usual = usual};
    const ir::Module& m = now.compiled().module;
    const std::string body = driver::step_body(m, *m.find_graph(now.entry().name));
    choices_.steps[body] = form.choice;
    forms_[body] = std::move(form);
    if (verdict.chosen == 1) after_ = std::move(other);
  }

  std::vector<std::vector<double>> take_turns(const std::vector<RandomSteps*>& steps) const {
    constexpr size_t kLeast = 9, kMost = 31;
    constexpr double kRound = 0.02;
    double once = 0;
    for (RandomSteps* s : steps) s->block(1), once = std::max(once, s->block(1));
    const int64_t count = std::clamp<int64_t>(static_cast<int64_t>(kRound / std::max(once, 1e-9)), 1, a_.steps.repeat);
    for (RandomSteps* s : steps) s->block(count);
    std::vector<std::vector<double>> times(steps.size());
    for (size_t round = 0; round < kMost && (round < kLeast || TuneClock::now() < at(1)); ++round)
      for (size_t i = 0; i < steps.size(); ++i) {
        const size_t which = round % 2 == 0 ? i : steps.size() - 1 - i;
        times[which].push_back(steps[which]->block(count) / static_cast<double>(count));
      }
    return times;
  }

  void measure_alone() {
    const auto times = take_turns({before_.get()});
    const double median = driver::median(times[0]);
    step_ = {median, median, times[0].size(), false};
  }

  const TuneArguments& a_;
  TuneClock::time_point begin_;
  double seconds_;
  Decisions decisions_;
  std::unique_ptr<RandomSteps> before_, after_;  // after_: none where it is the same
  driver::CompileOptions options_;
  driver::Choices choices_;
  std::vector<driver::TunedKernel> kernels_;
  std::map<std::string, Form> forms_;  // by body
  TunedStep step_;
};

// --- what is printed ---

std::string microseconds(double seconds) { return fmt::format("{:.4g} us", seconds * 1e6); }

// The chosen one last, so that it stands in a column of its own.
std::vector<std::string> row_of(const driver::TunedKernel& k) {
  const passes::Decision& d = k.decision;
  std::vector<std::string> tried;
  for (size_t c = 0; c < d.candidates.size(); ++c)
    if (k.seconds[c] > 0)
      tried.push_back(fmt::format("{} {}", d.candidates[c], microseconds(k.seconds[c])));
    else if (!k.refusals[c].empty())
      tried.push_back(fmt::format("{}: {}", d.candidates[c], k.refusals[c]));
  const std::string candidates = k.measured() ? fmt::format("{}", fmt::join(tried, "; ")) : "not measured: " + k.left;
  return {fmt::format("{}{}", k.title(), d.uses > 1 ? fmt::format(" x{}", d.uses) : ""), d.candidates[k.usual],
          d.candidates[k.chosen], candidates};
}

std::string Tuner::table() const {
  std::vector<std::vector<std::string>> rows = {{"kernel", "default", "chosen", "candidates"}};
  double before = 0, after = 0;
  for (const driver::TunedKernel& k : kernels_) {
    rows.push_back(row_of(k));
    const auto uses = static_cast<double>(k.decision.uses);
    before += uses * k.seconds[k.usual], after += uses * k.seconds[k.chosen];
  }
  for (const auto& [body, form] : forms_) {
    std::vector<std::string> tried;
    for (const auto& [name, seconds] : form.choice.seconds) tried.push_back(name + " " + microseconds(seconds));
    rows.push_back({"the step", form.usual, form.choice.chosen, fmt::format("{}", fmt::join(tried, "; "))});
  }
  std::vector<size_t> width(3, 0);
  for (const auto& row : rows)
    for (size_t c = 0; c < width.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out = fmt::format("{} {} on {}: batch {}\n\n", before_->program().name, a_.steps.entry,
                                before_->device().description(), before_->batch());
  for (const auto& row : rows)
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", row[0], width[0], row[1], width[1], row[2], width[2], row[3]);
  out += fmt::format("\nmeasured kernels: {} before, {} after\n", microseconds(before), microseconds(after));
  out += fmt::format("the step: {} before, {} after, medians of {} rounds{}\n", microseconds(step_.before),
                     microseconds(step_.after), step_.rounds,
                     step_.dropped ? "; it was slower with other choices, so all are the default" : "");
  return out;
}

std::string choice_json(const std::string& body, const std::string& usual, const passes::MeasuredChoice& choice) {
  runtime::JsonObject seconds;
  for (const auto& [name, time] : choice.seconds) seconds.number(name, time);
  return runtime::JsonObject()
      .text("body", body)
      .text("default", usual)
      .text("chosen", choice.chosen)
      .raw("seconds", seconds.str())
      .str();
}

std::string lines_json(const std::vector<std::string>& items) {
  return items.empty() ? "[]" : fmt::format("[\n  {}]", fmt::join(items, ",\n  "));
}

std::string Tuner::json() const {
  std::vector<std::string> kernels, steps;
  for (const driver::TunedKernel& k : kernels_)
    if (k.measured())
      kernels.push_back(choice_json(k.decision.body, k.decision.candidates[k.usual], driver::choice_of(k)));
  for (const auto& [body, form] : forms_) steps.push_back(choice_json(body, form.usual, form.choice));
  std::string out(driver::kChoicesHead);
  out += fmt::format(",\n \"heddle\": {},\n", runtime::json_quoted(HEDDLE_VERSION));
  const auto text = [&](const char* key, const std::string& value) {
    out += fmt::format(" \"{}\": {},\n", key, runtime::json_quoted(value));
  };
  text("processor", driver::processor_name(options_.target)), text("device", before_->device().description());
  text("model", before_->program().name), text("entry", a_.steps.entry);
  std::vector<std::string> libraries;
  for (const std::string& name : choices_.libraries.names()) libraries.push_back(runtime::json_quoted(name));
  out += fmt::format(" \"libraries\": {},\n", runtime::json_list(libraries));
  out += fmt::format(" \"kernels\": {},\n \"steps\": {},\n", lines_json(kernels), lines_json(steps));
  runtime::JsonObject seconds;
  seconds.number("before", step_.before).number("after", step_.after);
  return out + fmt::format(" \"step_seconds\": {}}}\n", seconds.str());
}

// Another file than an earlier table is nobody's to overwrite.
void require_table_path(const TuneArguments& a) {
  if (a.out.empty() || runtime::is_stream(a.out)) return;
  if (a.out == "-") throw UserError(ExitCode::usage, "-o - : standard output has the table of times", "name a file");
  require_different("-o", a.out, "the model", a.steps.model.model);
  runtime::require_replaceable(a.out);
  if (a.overwrite) return;
  std::string head(driver::kChoicesHead.size(), '\0');
  std::ifstream in(a.out, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(in.gcount()));
  if (!head.empty() && head != driver::kChoicesHead)
    throw UserError(ExitCode::failed,
                    fmt::format("{}: cannot be written: it is no earlier table of heddle tune", a.out),
                    "name another file, or allow it to be replaced: --overwrite");
}

// Writes the table only when it is complete, so a signal leaves the old table or none.
void tune(const TuneArguments& a) {
  if (!a.steps.model.choices.empty())
    throw UserError(ExitCode::usage, "--choices: heddle tune makes such a table", "leave it out");
  require_table_path(a);
  Tuner tuner(a);
  tuner.measure_kernels();
  tuner.measure_step();
  if (!a.out.empty()) runtime::write_file(a.out, tuner.json());
  write_result(tuner.table());
}

}  // namespace

void add_tune(CommandLine& line) {
  Command command =
      line.add_subcommand("tune", "measure which candidate executes each kernel of a step the fastest here");
  const auto a = std::make_shared<TuneArguments>();
  add_steps_arguments(command, a->steps);
  command.add_option("-o,--out", a->out, "write the table of choices here, for --choices").takes(Takes::file);
  command.add_option("--max-time", a->max_time, "what may be spent, about: \"30s\", \"5m\" (default 60s)");
  command.add_option("--repeat", a->steps.repeat, "most steps of one submission to the device (default 64)")
      .between(1, 4096);
  command.add_flag("--overwrite", a->overwrite, "replace a file that is no earlier table");
  a->steps.as_predict = true;
  command.run([a] { tune(*a); });
}

}  // namespace heddle::tools
