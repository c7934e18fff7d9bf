#include "runtime/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "ir/check.h"
#include "runtime/data/shuffle.h"
#include "runtime/train/finite.h"

namespace heddle::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

StepsOptions noting(StepsOptions options, const Watcher& watcher) {
  options.feed.note = watcher.note;
  return options;
}

// Throws where an element of the batch was not finite.
void require_finite_rows(const std::optional<Fault>& fault, int64_t first_row, const Split& split,
                         std::span<const uint32_t> order, const std::string& what) {
  if (!fault) return;
  const auto place = static_cast<size_t>(first_row + fault->row);
  throw UserError(ExitCode::failed,
                  fmt::format("{}: input '{}' holds {} in {} row {}, counted from 0", what, fault->input, fault->value,
                              split.name, order.empty() ? place : order[place]),
                  "mend or remove that row of the data, and look at the maps of the input");
}

// Every row once: through "eval", and what is left through "eval_last".
std::vector<Steps::Part> eval_parts(const codegen::Program& program, int64_t rows) {
  const codegen::Entry* full = program.find_entry("eval");
  const codegen::Entry* last = program.find_entry("eval_last");
  HEDDLE_CHECK(full != nullptr, "a program to be evaluated has an entry 'eval'");
  const int64_t rest = rows % batch_of(*full);
  std::vector<Steps::Part> parts = {{full, rows / batch_of(*full)}};
  HEDDLE_CHECK(rest == 0 || (last && rest % batch_of(*last) == 0), "'eval_last' divides the remainder");
  if (rest > 0) parts.push_back({last, rest / batch_of(*last)});
  return parts;
}

MetricValues evaluate_with(Steps& steps, Executable& executable, const Split& rows, const Watcher& watcher) {
  Metrics metrics(executable);
  metrics.reset();
  std::optional<Fault> fault;  // the first
  int64_t fault_rows = 0;      // before its batch
  steps.run(rows.table, {}, eval_parts(executable.program(), rows.rows()),
            {.record =
                 [&](const Steps::Done& done) {
                   if (!fault && done.record.fault) fault = done.record.fault, fault_rows = done.first_row;
                 },
             .stop = [&] { return watcher.interrupted && watcher.interrupted() != 0; }});
  MetricValues values = metrics.values();
  if (all_finite(values)) return values;
  const auto bad = std::find_if_not(values.begin(), values.end(), is_finite);
  require_finite_rows(fault, fault_rows, rows, {}, fmt::format("'{}' is {}", bad->name, bad->value));
  return values;
}

// One training run in progress.
class Run {
 public:
  Run(Executable& executable, const TrainOptions& options, const Split& rows, const Split* validation,
      const Watcher& watcher)
      : executable_(executable),
        options_(options),
        rows_(rows),
        validation_(validation),
        watcher_(watcher),
        metrics_(executable),
        steps_(executable, noting(options.steps_options, watcher)) {
    const codegen::Program& program = executable.program();
    full_ = program.find_entry("train");
    HEDDLE_CHECK(full_ != nullptr, "a program to be trained has an entry 'train'");
    after_epoch_ = program.find_entry("after_epoch");
    last_ = options.drop_last ? nullptr : program.find_entry("train_last");
    const int64_t batch = batch_of(*full_), remainder = rows.rows() % batch;
    if (remainder == 0) last_ = nullptr;
    HEDDLE_CHECK(!last_ || batch_of(*last_) == remainder, "'train_last' is made for the remainder of the rows");
    steps_per_epoch_ = rows.rows() / batch + (last_ ? 1 : 0);
    if (steps_per_epoch_ == 0)
      throw UserError(ExitCode::failed, fmt::format("{} training rows give no batch of {}", rows.rows(), batch),
                      "lower train.batch, or leave out drop_last");
    all_steps_ = run_length(options.epochs, options.steps, steps_per_epoch_).value_or(kForever);
  }

  TrainResult run() {
    const Clock::time_point begin = Clock::now();
    ask_for_interrupt();
    while (result_.steps < all_steps_ && !result_.interrupted) epoch();
    const codegen::Entry* take_average = executable_.program().find_entry("take_average");
    if (take_average != nullptr && result_.steps > 0) executable_.run(*take_average);
    check_parameters();
    result_.seconds = seconds_since(begin);
    return std::move(result_);
  }

 private:
  void epoch() {
    const Clock::time_point begin = Clock::now();
    const std::vector<uint32_t> order =
        data::shuffled(rows_.rows(), options_.seed, static_cast<uint64_t>(result_.epochs));
    metrics_.reset();
    const int64_t steps = std::min(steps_per_epoch_, all_steps_ - result_.steps);
    const int64_t ragged = last_ && steps == steps_per_epoch_ ? 1 : 0;
    std::vector<Steps::Part> parts = {{full_, steps - ragged}};
    if (ragged > 0) parts.push_back({last_, ragged});
    int64_t step_of_epoch = 0;
    steps_.run(rows_.table, order, parts,
               {.record = [&](const Steps::Done& done) { finished(done, order, ++step_of_epoch); },
                .stop = [&] { return ask_for_interrupt() != 0; }},
               {.seed = options_.seed, .epoch = static_cast<uint64_t>(result_.epochs)});
    result_.train = metrics_.values();
    const double seconds = seconds_since(begin);
    if (result_.interrupted) return;
    ++result_.epochs;
    if (validation_) validate();
    if (result_.interrupted) return;
    if (after_epoch_ != nullptr) executable_.run(*after_epoch_);
    if (watcher_.epoch)
      watcher_.epoch(
          {result_.epochs, options_.epochs.value_or(0), result_.steps, seconds, result_.train, result_.validation});
  }

  // Metrics of a part of the rows are nobody's metrics: an interrupted validation has none.
  void validate() {
    MetricValues values = evaluate_with(steps_, executable_, *validation_, watcher_);
    ask_for_interrupt();
    if (!result_.interrupted) result_.validation = std::move(values);
  }

  int ask_for_interrupt() {
    if (watcher_.interrupted) result_.interrupted = watcher_.interrupted();
    return result_.interrupted;
  }

  void finished(const Steps::Done& done, std::span<const uint32_t> order, int64_t step_of_epoch) {
    ++result_.steps;
    const StepRecord& record = done.record;
    if (!std::isfinite(record.loss) && record.count != 0) refuse_loss(done, order);
    if (watcher_.step)
      watcher_.step({result_.epochs + 1, options_.epochs.value_or(0), step_of_epoch, steps_per_epoch_, result_.steps,
                     all_steps_, record.loss, done.last ? &metrics_ : nullptr});
  }

  [[noreturn]] void refuse_loss(const Steps::Done& done, std::span<const uint32_t> order) const {
    const double loss = done.record.loss;
    const std::string what = fmt::format("the loss is {} at step {} (epoch {})",
                                         std::isnan(loss) ? std::abs(loss) : loss, result_.steps, result_.epochs + 1);
    require_finite_rows(done.record.fault, done.first_row, rows_, order, what);
    throw UserError(
        ExitCode::failed, what,
        std::string(loss > 0 && counts_labels(*done.entry) ? "a label that is none of the classes makes it inf; else "
                                                           : "") +
            "a lower lr or a clip_norm may keep it finite; scale inputs to about -1 to 1; --log FILE keeps the "
            "loss of every step");
  }

  // The loss of a step is that of the weights before it: it cannot tell what the last step did to them.
  void check_parameters() const {
    if (const auto parameter = parameter_not_finite(executable_))
      throw UserError(ExitCode::failed,
                      fmt::format("parameter '{}' holds {} after step {}: nothing is saved", parameter->name,
                                  parameter->value, result_.steps),
                      "a lower lr or a clip_norm may keep it finite; start again from weights saved earlier");
  }

  Executable& executable_;
  const TrainOptions& options_;
  const Split& rows_;
  const Split* validation_;
  const Watcher& watcher_;
  Metrics metrics_;
  Steps steps_;
  const codegen::Entry* full_ = nullptr;
  const codegen::Entry* last_ = nullptr;
  const codegen::Entry* after_epoch_ = nullptr;  // renews what a schedule keeps; it reads what the metrics' states hold
  int64_t steps_per_epoch_ = 0, all_steps_ = 0;
  TrainResult result_;
};

}  // namespace

std::optional<int64_t> run_length(std::optional<int64_t> epochs, std::optional<int64_t> steps,
                                  int64_t steps_per_epoch) {
  if (!epochs) return steps;
  const int64_t most = steps.value_or(kForever);
  // epochs * steps_per_epoch < most, without the product, which may not fit in 64 bits.
  return *epochs <= (most - 1) / steps_per_epoch ? *epochs * steps_per_epoch : most;
}

int64_t batch_of(const codegen::Entry& entry) {
  HEDDLE_CHECK(!entry.inputs.empty() && !entry.inputs[0].dims.empty(), "entry '" + entry.name + "' takes no batch");
  return entry.inputs[0].dims[0];
}

TrainResult train(Executable& executable, const TrainOptions& options, const Split& rows, const Split* validation,
                  const Watcher& watcher) {
  return Run(executable, options, rows, validation, watcher).run();
}

MetricValues evaluate(Executable& executable, const Split& rows, const Watcher& watcher, const StepsOptions& options) {
  Steps steps(executable, noting(options, watcher));
  return evaluate_with(steps, executable, rows, watcher);
}

}  // namespace heddle::runtime
