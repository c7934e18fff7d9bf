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

// Throws where an input of the step that has just run is not finite. The step has overwritten its inputs: they are
// written again to see whether the fault came with them.
void require_finite_rows(Executable& executable, const codegen::Entry& entry, const Split& split,
                         std::span<const uint32_t> rows, const std::string& what) {
  split.fill(executable, entry, rows);
  if (const auto input = input_not_finite(executable, entry))
    throw UserError(ExitCode::failed,
                    fmt::format("{}: input '{}' holds {} in {} row {}, counted from 0", what, input->name, input->value,
                                split.name(), rows[static_cast<size_t>(input->row)]),
                    "mend or remove that row of the data, and look at the maps of the input");
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
        metrics_(executable) {
    const codegen::Program& program = executable.program();
    full_ = program.find_entry("train");
    HEDDLE_CHECK(full_ != nullptr, "a program to be trained has an entry 'train'");
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
    const int64_t batch = batch_of(*full_), steps = std::min(steps_per_epoch_, all_steps_ - result_.steps);
    for (int64_t s = 0; s < steps && !result_.interrupted; ++s) {
      const bool ragged = last_ && s == steps_per_epoch_ - 1;
      const codegen::Entry& entry = ragged ? *last_ : *full_;
      const auto rows = std::span(order).subspan(static_cast<size_t>(s * batch), static_cast<size_t>(batch_of(entry)));
      rows_.fill(executable_, entry, rows);
      step(entry, rows, s);
    }
    result_.train = metrics_.values();
    const double seconds = seconds_since(begin);
    if (result_.interrupted) return;
    ++result_.epochs;
    if (validation_) validate();
    if (result_.interrupted) return;
    if (watcher_.epoch)
      watcher_.epoch(
          {result_.epochs, options_.epochs.value_or(0), result_.steps, seconds, result_.train, result_.validation});
  }

  // Metrics of a part of the rows are nobody's metrics: an interrupted validation has none.
  void validate() {
    MetricValues values = evaluate(executable_, *validation_, watcher_);
    ask_for_interrupt();
    if (!result_.interrupted) result_.validation = std::move(values);
  }

  void ask_for_interrupt() {
    if (watcher_.interrupted) result_.interrupted = watcher_.interrupted();
  }

  void step(const codegen::Entry& entry, std::span<const uint32_t> rows, int64_t step_of_epoch) {
    executable_.run(entry);
    const double loss = read_scalar(executable_, entry, "loss");
    ++result_.steps;
    if (!std::isfinite(loss) && !counts_nothing(executable_, entry)) refuse_loss(loss, entry, rows);
    if (watcher_.step)
      watcher_.step({result_.epochs + 1, options_.epochs.value_or(0), step_of_epoch + 1, steps_per_epoch_,
                     result_.steps, all_steps_, loss, &metrics_});
    ask_for_interrupt();
  }

  [[noreturn]] void refuse_loss(double loss, const codegen::Entry& entry, std::span<const uint32_t> rows) const {
    const std::string what = fmt::format("the loss is {} at step {} (epoch {})",
                                         std::isnan(loss) ? std::abs(loss) : loss, result_.steps, result_.epochs + 1);
    require_finite_rows(executable_, entry, rows_, rows, what);
    throw UserError(
        ExitCode::failed, what,
        std::string(loss > 0 && counts_labels(entry) ? "a label that is none of the classes makes it inf; else " : "") +
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
  const codegen::Entry* full_ = nullptr;
  const codegen::Entry* last_ = nullptr;
  int64_t steps_per_epoch_ = 0, all_steps_ = 0;
  TrainResult result_;
};

// Rows that one run of an entry takes.
struct EvalBatch {
  const codegen::Entry* entry = nullptr;
  std::span<const uint32_t> rows;
};

// Every row once: through "eval", and what is left through "eval_last".
std::vector<EvalBatch> eval_batches(const codegen::Program& program, std::span<const uint32_t> order) {
  const codegen::Entry* full = program.find_entry("eval");
  const codegen::Entry* last = program.find_entry("eval_last");
  HEDDLE_CHECK(full != nullptr, "a program to be evaluated has an entry 'eval'");
  std::vector<EvalBatch> batches;
  while (!order.empty()) {
    const auto left = static_cast<int64_t>(order.size());
    const codegen::Entry* entry = left >= batch_of(*full) ? full : last;
    HEDDLE_CHECK(entry && left % batch_of(*entry) % (last ? batch_of(*last) : 1) == 0,
                 "'eval_last' divides the remainder");
    batches.push_back({entry, order.first(static_cast<size_t>(batch_of(*entry)))});
    order = order.subspan(batches.back().rows.size());
  }
  return batches;
}

}  // namespace

Split::Split(std::string name, data::Table table, const std::vector<InputSpec>& inputs)
    : name_(std::move(name)), table_(std::move(table)) {
  for (const InputSpec& spec : inputs)
    if (const data::Column* column = table_.find(spec.name))
      feeds_.push_back({spec.name, data::Gather(*column, spec.dtype, spec.row, spec.maps)});
}

void Split::fill(Executable& executable, const codegen::Entry& entry, std::span<const uint32_t> rows) const {
  for (const codegen::Buffer& input : entry.inputs) {
    const auto feed = std::find_if(feeds_.begin(), feeds_.end(), [&](const Feed& f) { return f.input == input.name; });
    HEDDLE_CHECK(feed != feeds_.end(), "no column feeds input '" + input.name + "'");
    HEDDLE_CHECK(feed->gather.row_bytes() * static_cast<int64_t>(rows.size()) == input.bytes,
                 "a batch fills its input");
    if (void* place = executable.host_address(input)) {
      feed->gather(rows, place);
      continue;
    }
    std::vector<std::byte> staged(static_cast<size_t>(input.bytes));
    feed->gather(rows, staged.data());
    executable.write(input, staged.data());
  }
}

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

MetricValues evaluate(Executable& executable, const Split& rows, const Watcher& watcher) {
  Metrics metrics(executable);
  metrics.reset();
  const std::vector<uint32_t> order = data::in_order(rows.rows());
  const std::vector<EvalBatch> batches = eval_batches(executable.program(), order);
  size_t ran = 0;
  while (ran < batches.size()) {
    const EvalBatch& batch = batches[ran++];
    rows.fill(executable, *batch.entry, batch.rows);
    executable.run(*batch.entry);
    if (watcher.interrupted && watcher.interrupted()) break;
  }
  MetricValues values = metrics.values();
  if (all_finite(values)) return values;
  const auto bad =
      std::find_if(values.begin(), values.end(), [](const MetricValue& v) { return !std::isfinite(v.value); });
  for (const EvalBatch& batch : std::span(batches).first(ran))
    require_finite_rows(executable, *batch.entry, rows, batch.rows, fmt::format("'{}' is {}", bad->name, bad->value));
  return values;
}

}  // namespace heddle::runtime
