// heddle bench: the time of an entry's step on random inputs; no data set is needed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "codegen/predict.h"
#include "runtime/feed.h"
#include "runtime/json_text.h"
#include "runtime/process/process_memory.h"
#include "runtime/train/progress.h"
#include "runtime/train/trainer.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/device_arguments.h"
#include "tools/command/model_arguments.h"
#include "tools/command/output.h"
#include "tools/command/random_inputs.h"

namespace heddle::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kAnySteps = 1000;  // of the training, for schedules that end

struct BenchArguments {
  ModelArguments model;
  driver::DeviceRequest device;
  std::string entry = "train";
  double seconds = 1;
  int blocks = 9;
  int repeat = 64;
  bool pipelined = false, profile = false, json = false;
};

struct Measured {
  double cold_s = 0;
  int64_t steps_per_block = 0;
  std::vector<double> block_ms;  // per step
};

double seconds_of(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Steps over random batches in turn: a fed entry takes them from a table, several a submission;
// into the inputs of another they are written before each step. The host waits after each
// submission, or, pipelined, for the one before: as a training does.
class Bench {
 public:
  Bench(runtime::Executable& executable, const codegen::Entry& entry, const frontend::TrainingPlan& plan,
        const BenchArguments& a)
      : executable_(executable), entry_(entry), repeat_(a.repeat), most_under_way_(a.pipelined ? 2 : 1) {
    if (entry.fed_rows == 0) {
      ring_.emplace(entry, plan);
    } else {
      table_ = random_table(entry, plan);
      for (int64_t row = 0; row < table_.rows * passes(); ++row)
        order_.push_back(static_cast<uint32_t>(row % table_.rows));
      feed_.emplace(executable);
      begin();
    }
  }

  double block(int64_t steps) {
    const Clock::time_point begin = Clock::now();
    for (int64_t left = steps; left > 0;) left -= feed_ ? run_fed(left) : run_written();
    finish(0);
    return seconds_of(begin);
  }

  // Each step alone, in microseconds, the least of several runs.
  std::vector<runtime::StepTime> profile(int runs) {
    std::vector<runtime::StepTime> least;
    for (int r = 0; r < runs; ++r) {
      if (feed_) begin();
      const std::vector<runtime::StepTime> times = executable_.profile(entry_, 1);
      if (least.empty()) least = times;
      for (size_t i = 0; i < times.size(); ++i) least[i].seconds = std::min(least[i].seconds, times[i].seconds);
    }
    return least;
  }

 private:
  struct Submission {
    uint64_t number;
    int64_t steps;
  };

  // Through the table, so that a large submission finds its batches, and the next one too.
  int64_t passes() const {
    constexpr int64_t kBatches = 1024;
    const int64_t batches = table_.rows / entry_.fed_rows;
    return (kBatches + batches - 1) / batches;
  }
  void begin() {
    finish(0);
    feed_->begin(table_, order_);
    batches_left_ = static_cast<int64_t>(order_.size()) / entry_.fed_rows;
  }
  // Waits until no more than so many submissions are under way.
  void finish(size_t under_way) {
    for (; under_way_.size() > under_way; under_way_.pop_front()) {
      executable_.wait(under_way_.front().number);
      feed_->take(under_way_.front().steps);
    }
  }
  int64_t run_fed(int64_t left) {
    if (batches_left_ == 0) begin();
    const int64_t k = std::min({left, batches_left_, repeat_});
    feed_->provide(k * entry_.fed_rows);
    under_way_.push_back({executable_.submit(entry_, k), k});
    finish(most_under_way_ - 1);
    batches_left_ -= k;
    return k;
  }
  int64_t run_written() {
    ring_->write_next(executable_);
    executable_.run(entry_);
    return 1;
  }

  runtime::Executable& executable_;
  const codegen::Entry& entry_;
  int64_t repeat_;
  size_t most_under_way_;
  std::deque<Submission> under_way_;
  std::optional<InputRing> ring_;
  runtime::data::Table table_;
  std::vector<uint32_t> order_;
  std::optional<runtime::Feed> feed_;
  int64_t batches_left_ = 0;
};

Measured measure(Bench& bench, const BenchArguments& a) {
  Measured m;
  bench.block(1);
  m.cold_s = process_seconds();
  // Warm-up: at least three steps and a fifth of the time of a measurement; it also sizes the blocks.
  double best = bench.block(1), spent = 0;
  for (int i = 0; i < 2 || spent < 0.2 * a.seconds; ++i) {
    const double s = bench.block(1);
    best = std::min(best, s), spent += s;
  }
  m.steps_per_block = std::max<int64_t>(1, static_cast<int64_t>(a.seconds / a.blocks / best));
  for (int b = 0; b < a.blocks; ++b)
    m.block_ms.push_back(1e3 * bench.block(m.steps_per_block) / static_cast<double>(m.steps_per_block));
  return m;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The steps in their order, measured and predicted.
std::string profile_json(const codegen::Program& program, const codegen::Entry& entry,
                         const std::vector<runtime::StepTime>& times) {
  std::vector<std::string> steps;
  for (size_t i = 0; i < times.size(); ++i)
    steps.push_back(runtime::JsonObject()
                        .text("title", times[i].title)
                        .number("seconds", times[i].seconds)
                        .number("predicted_seconds", codegen::predicted_seconds(program, entry.steps[i]))
                        .str());
  return runtime::json_list(steps);
}

void print_profile(std::vector<runtime::StepTime> times) {
  double total = 0;
  for (const runtime::StepTime& t : times) total += t.seconds;
  std::stable_sort(times.begin(), times.end(), [](const auto& x, const auto& y) { return x.seconds > y.seconds; });
  for (const runtime::StepTime& t : times)
    print_note("{:>10.1f} us {:>5.1f} %  {}\n", t.seconds * 1e6, 100 * t.seconds / total, t.title);
}

std::string host_does(const BenchArguments& a) {
  return a.pipelined ? "two submissions under way" : "waits after each submission";
}

void report(const BenchArguments& a, const codegen::Program& program, const Measured& m, int64_t batch,
            const std::string& device, const std::string& profile) {
  const double least = *std::min_element(m.block_ms.begin(), m.block_ms.end()), middle = median(m.block_ms);
  print_note("{} {} on {}: batch {}, {} blocks of {} steps, min {:.4g} ms, median {:.4g} ms, {:.4g} samples/s, {}\n",
             program.name, a.entry, device, batch, a.blocks, m.steps_per_block, least, middle,
             1e3 * static_cast<double>(batch) / middle, host_does(a));
  if (!a.json) return;
  std::vector<std::string> blocks;
  for (double b : m.block_ms) blocks.push_back(runtime::json_number(b));
  runtime::JsonObject out;
  out.text("model", program.name).text("entry", a.entry).text("device", device).integer("batch", batch);
  out.number("step_ms_min", least).number("step_ms_median", middle).raw("blocks", runtime::json_list(blocks));
  out.integer("repeat", a.repeat)
      .text("host", host_does(a))
      .integer("steps_per_block", m.steps_per_block)
      .number("samples_per_second", 1e3 * static_cast<double>(batch) / middle);
  out.number("cold_s", m.cold_s)
      .integer("arena_bytes", program.arena_bytes)
      .integer("peak_bytes", runtime::peak_resident_bytes());
  if (!profile.empty()) out.raw("profile", profile);
  print_result("{}\n", out.str());
}

// As few graphs as the entry takes.
frontend::BuildOptions entries_for(ir::EntryKind entry, const frontend::Model& model) {
  const frontend::BuildOptions all = frontend::default_build_options(model);
  frontend::BuildOptions build{.shorter = entry.length > 0, .total_steps = kAnySteps};
  if (entry.phase == ir::Phase::predict) {
    build.predict = all.predict;
  } else if (entry.phase == ir::Phase::eval || all.train == 0) {
    build.eval = all.eval;
  } else {
    build.train = all.train;  // init writes the states of a training
  }
  return build;
}

// The benched entry of shorter rows takes a table of such rows, where a training would read the begin of longer ones.
void take_length(frontend::TrainingPlan& plan, int64_t length) {
  for (frontend::PlannedBucket& bucket : plan.buckets)
    if (bucket.length == length) plan.inputs = std::move(bucket.inputs);
  plan.buckets.clear();
}

// What 'predict' would return: what the first loss reads first, else the last node's result.
[[noreturn]] void refuse_prediction(const frontend::Model& model) {
  std::string name = model.nodes.empty() || model.nodes.back().name.empty() ? "NODE" : model.nodes.back().name;
  if (!model.train.losses.empty() && !model.train.losses[0].in.empty()) name = model.train.losses[0].in[0].name;
  throw UserError(ExitCode::failed, "the model has no \"outputs\": there is nothing to predict",
                  fmt::format("--set 'outputs={{\"{0}\": \"{0}\"}}' makes a node's result an output", name));
}

// With the entries that the model has.
[[noreturn]] void refuse_entry(const std::string& entry, const frontend::Model& model, ExitCode code) {
  frontend::BuildOptions entries = frontend::default_build_options(model);
  entries.total_steps = kAnySteps;
  const driver::CompileOptions options{.entries = entries, .to = "", .keep_module = true};
  std::vector<std::string> names;
  for (const ir::Graph& g : driver::compile(model, options).module.graphs) names.push_back(g.name);
  throw UserError(code, fmt::format("the model has no entry '{}'", entry),
                  fmt::format("it has {}; train needs a loss and an optimizer, eval a loss, predict an output",
                              fmt::join(names, ", ")));
}

void bench(const BenchArguments& a) {
  warn_without_kernel_cache();
  const driver::OpenedDevice device = driver::open_device(a.device);
  driver::ReadModel model;
  read(a.model, model);
  // Random labels are learnt by heart at a useful rate, and then gradients vanish into denormal numbers, which no real
  // run has.
  if (model.model.train.optimizer) read(a.model, model, {"train.optimizer.lr=1e-6"});
  const ir::EntryKind kind = ir::entry_kind(a.entry);
  if (kind.phase == ir::Phase::other) refuse_entry(a.entry, model.model, ExitCode::usage);
  if (kind.phase == ir::Phase::predict && model.model.outputs.empty()) refuse_prediction(model.model);
  driver::Planned planned(model.model);
  take_length(planned.plan, kind.length);
  planned.plan.data.maps.clear();  // random inputs are as large as mapped ones are
  for (frontend::PlannedInput& input : planned.plan.inputs) input.one_hot = 0;
  driver::CompileOptions options = compile_options(a.model);
  options.entries = entries_for(kind, model.model);
  options.target = device.target;
  options.predict = a.profile;
  const driver::Compiled compiled = driver::compile(planned, options);
  const codegen::Program& program = compiled.program;
  const codegen::Entry* entry = program.find_entry(kind);
  if (entry == nullptr) refuse_entry(a.entry, model.model, ExitCode::failed);
  runtime::Executable executable(program, *device.device);
  if (const codegen::Entry* init = program.find_entry(ir::Phase::init)) executable.run(*init);
  Bench runs(executable, *entry, compiled.plan, a);
  const Measured m = measure(runs, a);
  std::string profile;
  if (a.profile) {
    const int rounds = device.target.gpu ? 4 : 20;  // a GPU takes the least of several in each
    const std::vector<runtime::StepTime> times = runs.profile(rounds);
    print_profile(times);
    profile = profile_json(program, *entry, times);
  }
  const int64_t batch = entry->inputs.empty() ? 1 : runtime::batch_of(*entry);  // init reads none
  report(a, program, m, batch, device.description(), profile);
}

}  // namespace

void add_bench(CommandLine& line) {
  Command command = line.add_subcommand("bench", "time an entry's step on random inputs");
  const auto a = std::make_shared<BenchArguments>();
  add_model_arguments(command, a->model);
  add_device_arguments(command, a->device);
  command
      .add_option("--entry", a->entry, "train (default), eval, predict, init, or another that inspect lists: train.16")
      .may_be({"train", "eval", "predict", "init"});
  command.add_option("--seconds", a->seconds, "seconds to measure, without the warm-up (default 1)")
      .between(0.01, 3600.0);
  command.add_option("--blocks", a->blocks, "timed blocks (default 9)").between(7, 1000);
  command.add_option("--repeat", a->repeat, "steps of one submission to the device (default 64)").between(1, 4096);
  command.add_flag("--pipelined", a->pipelined,
                   "keep two submissions under way, as a training does (default: wait after each)");
  command.add_flag("--profile", a->profile,
                   "print on standard error the time of each step of the entry; with --json also the predicted time");
  command.add_flag("--json", a->json, "print one JSON object on standard output");
  command.run([a] { bench(*a); });
}

}  // namespace heddle::tools
