#include "runtime/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "ir/check.h"
#include "runtime/data/shuffle.h"
#include "runtime/process/process_memory.h"
#include "runtime/train/batches.h"
#include "runtime/train/best.h"
#include "runtime/train/finite.h"
#include "runtime/train/finite_watch.h"
#include "runtime/train/progress.h"
#include "runtime/weights/program_weights.h"

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
                  "correct or remove that row of the data, and look at the maps of the input");
}

// Throws where an index of the batch was out of range. If the batch had nan or infinities, these may be the cause, so
// the message names them instead.
void require_inside(const Steps::Done& done, const StepsOptions& options, const Split& split,
                    std::span<const uint32_t> order) {
  if (!done.record.outside) return;
  const OutsideIndex& outside = *done.record.outside;
  const int64_t length = done.entry->kind().length;
  const std::vector<CheckedIndices>& known = length > 0 ? options.shorter_indices.at(length) : options.indices;
  HEDDLE_CHECK(outside.check < known.size(), "the model's checks of indices are known");
  const CheckedIndices& checked = known[outside.check];
  const auto place = static_cast<size_t>(done.first_row + outside.place / std::max<int64_t>(checked.of_row, 1));
  const bool of_row = checked.of_row > 0;
  const UserError error = index_error(
      checked, outside, of_row ? fmt::format("{} row {}", split.name, order.empty() ? place : order[place]) : "",
      done.entry->fed_rows);
  require_finite_rows(done.record.fault, done.first_row, split, order,
                      fmt::format("{} holds {}", checked.indices, index_text(outside.index, checked.is_u64)));
  throw error;
}

// Splits the rows into runs of the evaluation's entries: whole batches, then the remainder.
std::vector<Steps::Part> eval_parts(const codegen::Program& program, const Batches& batches,
                                    const data::BucketOrder& order, int64_t rows) {
  const codegen::Entry* last = program.find_entry({ir::Phase::eval, ir::BatchKind::remainder});
  const int64_t batch = batch_of(batches.whole()), rest = rows % batch;
  std::vector<Steps::Part> parts = batches.parts(order, 0, rows / batch);
  HEDDLE_CHECK(rest == 0 || (last && rest % batch_of(*last) == 0), "'eval_last' divides the remainder");
  if (rest > 0) parts.push_back({last, rest / batch_of(*last)});
  return parts;
}

// The batch as a step that can be replayed. `places` gets its rows where there is no order.
FaultyStep faulty_batch(const Steps::Done& done, const Split& split, std::span<const uint32_t> order,
                        std::vector<uint32_t>& places) {
  const auto first = static_cast<size_t>(done.first_row), count = static_cast<size_t>(done.entry->fed_rows);
  if (order.empty()) places = data::in_order(split.rows()), order = places;
  return {.entry = done.entry, .split = &split, .rows = order.subspan(first, count), .draws = {}, .what = {}};
}

struct Evaluated {
  MetricValues values;
  std::optional<Steps::Done> bad;  // the first batch whose loss is not finite
  data::BucketOrder order;
};

Evaluated evaluate_with(Steps& steps, Executable& executable, const Split& rows, const Watcher& watcher,
                        const StepsOptions& options) {
  Metrics metrics(executable);
  metrics.reset();
  std::optional<Steps::Done> bad;
  std::optional<Fault> fault;          // the first
  int64_t fault_rows = 0;              // before its batch
  std::optional<Steps::Done> outside;  // likewise
  const Batches batches(executable.program(), ir::Phase::eval);
  data::BucketOrder order;  // as they lie
  if (!rows.bucket.empty()) order = batches.arrange(data::in_order(rows.rows()), rows.bucket);
  steps.run(rows.table, order.rows, eval_parts(executable.program(), batches, order, rows.rows()),
            {.record =
                 [&](const Steps::Done& done) {
                   if (!fault && done.record.fault) fault = done.record.fault, fault_rows = done.first_row;
                   if (!outside && done.record.outside) outside = done;
                   if (!bad && !std::isfinite(done.record.loss) && done.record.count != 0) bad = done;
                 },
             .stop = [&] { return outside || (watcher.interrupted && watcher.interrupted() != 0); }});
  if (outside) require_inside(*outside, options, rows, order.rows);
  MetricValues values = metrics.values();
  if (all_finite(values)) return {std::move(values), bad, std::move(order)};
  const auto first = std::find_if_not(values.begin(), values.end(), is_finite);
  require_finite_rows(fault, fault_rows, rows, order.rows, fmt::format("'{}' is {}", first->name, first->value));
  return {std::move(values), bad, std::move(order)};
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
        batches_(executable.program(), ir::Phase::train),
        steps_(executable, noting(options.steps_options, watcher)),
        finite_(executable) {
    const codegen::Program& program = executable.program();
    after_epoch_ = program.find_entry(ir::Phase::after_epoch);
    last_ = options.drop_last ? nullptr : program.find_entry({ir::Phase::train, ir::BatchKind::remainder});
    batch_ = batch_of(batches_.whole());
    const int64_t remainder = rows.rows() % batch_;
    if (remainder == 0) last_ = nullptr;
    HEDDLE_CHECK(!last_ || batch_of(*last_) == remainder, "'train_last' is made for the remainder of the rows");
    steps_per_epoch_ = epoch_length(rows.rows(), batch_, last_ == nullptr);
    all_steps_ = run_length(options.epochs, options.steps, steps_per_epoch_).value_or(kForever);
  }

  TrainResult run() {
    begin_ = last_save_ = Clock::now();
    if (options_.from != nullptr) go_on_from(*options_.from);
    note_end();
    while ((state_.steps < all_steps_ || (state_.step_of_epoch > 0 && !epoch_measured_)) && !ended()) epoch();
    if (state_.steps != saved_step_) save();
    const codegen::Entry* take_average = executable_.program().find_entry(ir::Phase::take_average);
    if (take_average != nullptr && state_.steps > 0) executable_.run(*take_average);
    check_parameters();
    return result();
  }

 private:
  void go_on_from(const RunState& from) {
    state_ = from;
    saved_step_ = from.steps;
    int64_t expected = 0;
    if (from.step_of_epoch > steps_per_epoch_ || __builtin_mul_overflow(from.epochs, steps_per_epoch_, &expected) ||
        __builtin_add_overflow(expected, from.step_of_epoch, &expected) || expected != from.steps)
      throw UserError(ExitCode::failed,
                      fmt::format("step {} in epoch {} at its step {} is no position in epochs of {} steps", from.steps,
                                  from.epochs + 1, from.step_of_epoch, steps_per_epoch_));
    forget_other_best();
    if (gives_up()) result_.stopped = Stopped::early_stop;
  }

  // If the run continues with another measure, forgets the best epoch so far.
  void forget_other_best() {
    if (!options_.best || !state_.best || state_.best->by.empty()) return;
    const std::string measure = measure_of(*options_.best);
    if (state_.best->by == measure) return;
    if (watcher_.note)
      watcher_.note(fmt::format("the best epoch, {}, was that of {}: from here on it is looked for anew, by {}",
                                state_.best->epoch, state_.best->by, measure));
    state_.best.reset(), state_.epochs_without_better = 0;
  }

  TrainResult result() {
    result_.steps = state_.steps;
    result_.epochs = state_.epochs + (state_.step_of_epoch > 0 && epoch_measured_ ? 1 : 0);
    result_.seconds = total_seconds();
    result_.train = std::move(state_.train);
    result_.validation = std::move(state_.validation);
    result_.best = std::move(state_.best);
    return std::move(result_);
  }

  double total_seconds() const {
    return (options_.from != nullptr ? options_.from->seconds : 0) + seconds_since(begin_);
  }

  // Trains an epoch, or the rest of one. In a run that ends after a number of steps, the last epoch may be incomplete.
  // It is then saved before its metrics are computed, with the totals from which a longer run continues.
  void epoch() {
    if (note_end()) return;  // whoever was told of the epoch before may end the training there, without a step more
    const Clock::time_point begin = Clock::now();
    epoch_measured_ = false;
    const bool whole = state_.step_of_epoch == steps_per_epoch_;  // only its measures are missing
    if (state_.step_of_epoch == 0) metrics_.reset();
    any_counts_ = state_.step_of_epoch > 0;
    const int64_t steps = std::min(steps_per_epoch_, all_steps_ - (state_.steps - state_.step_of_epoch));
    const data::BucketOrder order = batches_.arrange(
        epoch_order(rows_, options_.in_order, options_.seed, static_cast<uint64_t>(state_.epochs)), rows_.bucket);
    while (state_.step_of_epoch < steps && !ended()) {
      run_steps(order, steps);
      if (state_.step_of_epoch < steps && !ended() && is_due()) save();
    }
    if (!whole) state_.train = metrics_.values();
    if (!any_counts_ && !ended()) tell_that_nothing_counts();
    const double seconds = seconds_since(begin);
    if (ended()) return;
    if (steps < steps_per_epoch_ && state_.steps != saved_step_) save();
    if (validation_) validate();
    if (result_.interrupted != 0) return;
    end_epoch(seconds, steps == steps_per_epoch_);
  }

  // A step in which no row counts changes nothing, which is correct. A whole epoch of such steps is probably a mistake.
  void tell_that_nothing_counts() {
    if (watcher_.note && !std::exchange(told_that_nothing_counts_, true))
      watcher_.note(fmt::format("no row of epoch {} counts in the loss: each label is ignored, or each weight is 0",
                                state_.epochs + 1));
  }

  void end_epoch(double seconds, bool whole) {
    // Where a loss scale has skipped each of its steps, nothing was trained: schedules and patience wait.
    const bool trained = state_.skipped_in_row < state_.step_of_epoch;
    if (after_epoch_ != nullptr && trained) executable_.run(*after_epoch_);
    epoch_measured_ = true;
    if (whole) ++state_.epochs, state_.step_of_epoch = 0;
    if (trained) judge(state_.epochs + (whole ? 0 : 1));
    if (watcher_.epoch)
      watcher_.epoch({state_.epochs + (whole ? 0 : 1), options_.epochs.value_or(0), state_.steps, all_steps_, seconds,
                      state_.train, state_.validation, !trained});
    if (!whole) return;
    saved_epochs_ += 1;
    if (state_.steps < all_steps_ && !ended() && (is_due() || epochs_due())) save();
  }

  // Runs steps up to the end of the epoch or to the next checkpoint.
  void run_steps(const data::BucketOrder& order, int64_t steps) {
    const int64_t first = state_.step_of_epoch;
    int64_t times = steps - first;
    if (watcher_.save && options_.save.steps > 0)
      times = std::min(times, options_.save.steps - state_.steps % options_.save.steps);
    const int64_t ragged = last_ && first + times == steps_per_epoch_ ? 1 : 0;
    std::vector<Steps::Part> parts = batches_.parts(order, first, times - ragged);
    if (ragged > 0) parts.push_back({last_, ragged});
    const auto rows = std::span(order.rows).subspan(static_cast<size_t>(first * batch_));
    const Draws draws{.seed = options_.seed, .epoch = static_cast<uint64_t>(state_.epochs), .training = true};
    const Position before{.steps = state_.steps, .rows = rows, .parts = parts, .draws = draws};
    Steps::Watch watch{.record = [&](const Steps::Done& done) { finished(done, rows); },
                       .stop = [&] { return suspect_ || note_end() || time_due(); }};
    if (options_.check_finite) {
      finite_.begin();
      watch.before = [&](int64_t submitted) { ruined_ = ruined_ || !finite_.look(submitted); };
    }
    const int64_t done = steps_.run(rows_.table, rows, parts, watch, draws);
    if (!options_.check_finite) return;
    if (suspect_ || ruined_ || parameter_not_finite(executable_)) find_origin(before, done);
    if (suspect_) refuse(*suspect_, rows);
  }

  // Where steps began.
  struct Position {
    int64_t steps = 0;
    std::span<const uint32_t> rows;
    std::span<const Steps::Part> parts;
    Draws draws;
  };

  static const codegen::Entry& entry_of(const Position& from, int64_t step) {
    for (const Steps::Part& part : from.parts) {
      if (step < part.times) return *part.entry;
      step -= part.times;
    }
    HEDDLE_CHECK(false, "a step is one of its parts");
  }

  // Replays the last steps one by one up to the first faulty one, and throws an error about it.
  void find_origin(const Position& from, int64_t executed) {
    StepRecord last;
    const auto rows_of = [&](int64_t step) { return from.rows.subspan(static_cast<size_t>(step * batch_)); };
    const auto run = [&](int64_t step) {
      const Steps::Part one{&entry_of(from, step), 1};
      steps_.run(rows_.table, rows_of(step), std::span(&one, 1),
                 {.record = [&](const Steps::Done& done) { last = done.record; }, .stop = {}}, from.draws);
    };
    const auto faulty = [&](int64_t step) {
      if (last.skipped) return suspect_ && from.steps + step + 1 == state_.steps;
      return !std::isfinite(last.loss) && last.count != 0;
    };
    const std::optional<int64_t> found = finite_.replay({.steps = executed, .run = run, .faulty = faulty});
    if (!found || !watcher_.origin) return;
    const int64_t step = from.steps + *found + 1;
    FaultyStep told{.entry = &entry_of(from, *found), .split = &rows_, .rows = {}, .draws = from.draws, .what = {}};
    told.rows = rows_of(*found).first(static_cast<size_t>(told.entry->fed_rows));
    told.what = last.skipped ? overflowed_text()
                : finite_.parameter() && std::isfinite(last.loss)
                    ? fmt::format("parameter '{}' holds {} after step {} (epoch {})", finite_.parameter()->name,
                                  finite_.parameter()->value, step, state_.epochs + 1)
                    : loss_text(last.loss, step);
    if (const std::optional<UserError> error = watcher_.origin(told)) throw *error;
    if (!suspect_) throw UserError(ExitCode::failed, told.what, "a lower lr or a clip_norm may keep it finite");
  }

  // Validates. An interrupted validation has no metrics, because those of a part of the rows would mislead.
  void validate() {
    MetricValues values = evaluate_with(steps_, executable_, *validation_, watcher_, options_.steps_options).values;
    note_end();
    if (result_.interrupted == 0 && watcher_.measure) {
      for (MetricValue& more : watcher_.measure(*validation_)) values.push_back(std::move(more));
      note_end();
    }
    if (result_.interrupted == 0) state_.validation = std::move(values);
  }

  bool is_behind_last_epoch() const {
    return options_.last_epoch > 0 && state_.epochs >= options_.last_epoch && state_.step_of_epoch == 0 &&
           state_.steps < all_steps_;
  }
  bool ended() const { return result_.stopped != Stopped::no; }

  // Whether the training shall end now.
  bool note_end() {
    if (watcher_.interrupted) result_.interrupted = watcher_.interrupted();
    if (result_.interrupted != 0) {
      result_.stopped = Stopped::signal;
    } else if (!ended() && options_.max_seconds > 0 && seconds_since(begin_) >= options_.max_seconds) {
      result_.stopped = Stopped::max_time;
    } else if (!ended() && options_.max_resident_bytes > 0 && resident_bytes() > options_.max_resident_bytes) {
      result_.stopped = Stopped::memory;
    } else if (!ended() && is_behind_last_epoch()) {
      result_.stopped = Stopped::last_epoch;
    }
    return ended();
  }

  // Checks whether the epoch is the best so far, and whether patience has run out.
  void judge(int64_t epoch) {
    if (!options_.best) return;
    const double value = judged_value(*options_.best, state_.train, state_.validation);
    const std::optional<double> before = state_.best ? std::optional(state_.best->value) : std::nullopt;
    if (is_better(*options_.best, value, before)) {
      state_.best = {value, epoch, state_.steps, weights_of(executable_, {}, true), measure_of(*options_.best)};
      state_.epochs_without_better = 0;
      if (watcher_.better) watcher_.better(*state_.best);
    } else {
      ++state_.epochs_without_better;
    }
    if (!ended() && gives_up()) result_.stopped = Stopped::early_stop;
  }

  bool gives_up() const {
    return options_.best && options_.best->patience > 0 && state_.epochs_without_better >= options_.best->patience;
  }

  bool time_due() const {
    return watcher_.save && options_.save.seconds > 0 && seconds_since(last_save_) >= options_.save.seconds;
  }
  bool is_due() const { return time_due() || (options_.save.steps > 0 && state_.steps % options_.save.steps == 0); }
  bool epochs_due() const { return options_.save.epochs > 0 && saved_epochs_ >= options_.save.epochs; }

  // Saves a checkpoint unless a parameter is not finite; the next step's loss then reports it.
  void save() {
    if (!watcher_.save || parameter_not_finite(executable_)) return;
    state_.seconds = total_seconds();
    watcher_.save(state_);
    saved_step_ = state_.steps, saved_epochs_ = 0, last_save_ = Clock::now();
  }

  void finished(const Steps::Done& done, std::span<const uint32_t> order) {
    if (suspect_) return;  // it came before this one
    const StepRecord& record = done.record;
    const int64_t optimizer_step = state_.steps - state_.skipped + 1;
    ++state_.steps, ++state_.step_of_epoch;
    state_.skipped += record.skipped ? 1 : 0;
    state_.skipped_in_row = record.skipped ? state_.skipped_in_row + 1 : 0;
    any_counts_ = any_counts_ || record.count != 0;
    require_inside(done, options_.steps_options, rows_, order);
    if (record.skipped) note_skipped(done, order);
    const bool bad =
        record.skipped ? state_.skipped_in_row >= kMostSkipped : !std::isfinite(record.loss) && record.count != 0;
    if (bad && options_.check_finite) {
      suspect_ = done;
      return;
    }
    if (bad) refuse(done, order);
    note_norm(record);
    if (watcher_.step)
      watcher_.step({state_.epochs + 1, options_.epochs.value_or(0), state_.step_of_epoch, steps_per_epoch_,
                     state_.steps, all_steps_, record.loss, done.last ? &metrics_ : nullptr,
                     options_.gradient_norm ? record.norm : std::nullopt, record.loss_scale, record.skipped,
                     optimizer_step});
  }

  // A step whose gradients overflowed has changed nothing, and the next step has a smaller scale. But nan or infinities
  // in the data stay in each epoch, so a note names their row.
  void note_skipped(const Steps::Done& done, std::span<const uint32_t> order) {
    if (done.record.fault && watcher_.note && !std::exchange(told_of_fault_, true)) {
      const auto place = static_cast<size_t>(done.first_row + done.record.fault->row);
      watcher_.note(fmt::format("step {} is skipped: input '{}' holds {} in {} row {}, counted from 0", state_.steps,
                                done.record.fault->input, done.record.fault->value, rows_.name,
                                order.empty() ? place : order[place]));
    }
    const bool small = done.record.skipped && done.record.loss_scale && *done.record.loss_scale < 1;
    if (small && watcher_.note && !std::exchange(told_of_scale_, true))
      watcher_.note(
          fmt::format("the loss scale has fallen to {:.3g} at step {} (epoch {}): some rows overflow with any "
                      "scale, and their steps are skipped",
                      *done.record.loss_scale, state_.steps, state_.epochs + 1));
  }

  std::string overflowed_text() const {
    return fmt::format("the gradients of {} steps in a row have overflowed, up to step {} (epoch {})", kMostSkipped,
                       state_.steps, state_.epochs + 1);
  }
  std::string loss_text(double loss, int64_t step) const {
    return fmt::format("the loss is {} at step {} (epoch {})", std::isnan(loss) ? std::abs(loss) : loss, step,
                       state_.epochs + 1);
  }

  [[noreturn]] void refuse(const Steps::Done& done, std::span<const uint32_t> order) const {
    if (done.record.skipped) refuse_overflows(done, order);
    refuse_loss(done, order);
  }

  [[noreturn]] void refuse_overflows(const Steps::Done& done, std::span<const uint32_t> order) const {
    const std::string what = overflowed_text();
    require_finite_rows(done.record.fault, done.first_row, rows_, order, what);
    throw UserError(ExitCode::failed,
                    fmt::format("{}: the loss scale is {:.3g}", what, std::abs(done.record.loss_scale.value_or(0))),
                    "--check-finite names the first value that is not finite; in f16 a lower lr or inputs of about -1 "
                    "to 1 may keep values below 65504, and \"mixed\": \"bf16\" has the range of f32");
  }

  // The gradients' norm may be nan or infinite while the loss stays finite, so it is reported here.
  void note_norm(const StepRecord& record) {
    const bool has_norm = options_.clips || options_.gradient_norm;
    if (!has_norm || record.skipped || !record.norm || std::isfinite(*record.norm)) return;
    if (record.count == 0 || !watcher_.note) return;
    if (std::exchange(told_of_norm_, true)) return;
    watcher_.note(fmt::format("the norm of all gradients is {} at step {}{}", std::abs(*record.norm), state_.steps,
                              options_.clips ? ": clip_norm makes each of them 0 or nan" : ""));
  }

  void explain(const std::string& what) const {
    const bool told =
        watcher_.explain && options_.from == nullptr && state_.epochs == 0 && state_.steps <= rows_.rows() / batch_;
    if (!told || options_.check_finite) return;
    if (const std::optional<UserError> error = watcher_.explain(state_.steps, what)) throw *error;
  }

  [[noreturn]] void refuse_loss(const Steps::Done& done, std::span<const uint32_t> order) const {
    const double loss = done.record.loss;
    const std::string what = loss_text(loss, state_.steps);
    require_finite_rows(done.record.fault, done.first_row, rows_, order, what);
    explain(what);
    const std::string labels =
        loss > 0 && counts_labels(*done.entry) ? "a label that is none of the classes makes it inf; else " : "";
    // At the first loss no step has been taken, so a smaller learning rate is no remedy.
    const std::string cause = state_.steps == 1 ? "" : "a lower lr or a clip_norm may keep it finite; ";
    throw UserError(ExitCode::failed, what,
                    labels + cause + "scale inputs to about -1 to 1; --log FILE keeps the loss of every step");
  }

  // The loss of a step is that of the weights before it: it cannot tell what the last step did to them.
  void check_parameters() const {
    const auto parameter = parameter_not_finite(executable_);
    if (!parameter) return;
    const std::string what = fmt::format("parameter '{}' holds {} after step {}: nothing is saved", parameter->name,
                                         parameter->value, state_.steps);
    explain(what);
    throw UserError(ExitCode::failed, what,
                    "a lower lr or a clip_norm may keep it finite; start again from weights saved earlier");
  }

  Executable& executable_;
  const TrainOptions& options_;
  const Split& rows_;
  const Split* validation_;
  const Watcher& watcher_;
  Metrics metrics_;
  const Batches batches_;
  Steps steps_;
  FiniteWatch finite_;                  // where it is asked for
  std::optional<Steps::Done> suspect_;  // a step whose record says so; no step behind it is told of
  bool ruined_ = false;                 // a parameter, by a step whose record does not say so
  int64_t batch_ = 0;                   // rows of a whole one
  const codegen::Entry* last_ = nullptr;
  const codegen::Entry* after_epoch_ = nullptr;  // renews what a schedule keeps; it reads what the metrics' states hold
  int64_t steps_per_epoch_ = 0, all_steps_ = 0;
  RunState state_;
  bool epoch_measured_ = false;  // the one that comes next in state_, which lacks steps
  bool told_that_nothing_counts_ = false, told_of_norm_ = false, told_of_fault_ = false, told_of_scale_ = false;
  bool any_counts_ = false;   // of the epoch's rows, as far as it was not an earlier run's
  int64_t saved_step_ = -1;   // of the last checkpoint; -1: a run that ends before its first step is saved, too
  int64_t saved_epochs_ = 0;  // that have ended since
  Clock::time_point begin_, last_save_;
  TrainResult result_;
};

}  // namespace

std::string to_string(Stopped why) {
  constexpr const char* kNames[] = {"no", "signal", "early_stop", "max_time", "memory", "last_epoch"};
  return kNames[static_cast<size_t>(why)];
}

std::optional<int64_t> run_length(std::optional<int64_t> epochs, std::optional<int64_t> steps,
                                  int64_t steps_per_epoch) {
  if (!epochs) return steps;
  const int64_t most = steps.value_or(kForever);
  // epochs * steps_per_epoch < most, without the product, which may not fit in 64 bits.
  return *epochs <= (most - 1) / steps_per_epoch ? *epochs * steps_per_epoch : most;
}

int64_t epoch_length(int64_t rows, int64_t batch, bool drop_last) {
  const int64_t steps = rows / batch + (rows % batch > 0 && !drop_last ? 1 : 0);
  if (steps == 0)
    throw UserError(ExitCode::failed, fmt::format("{} training rows give no batch of {}", rows, batch),
                    "lower train.batch, or leave out drop_last");
  return steps;
}

std::vector<uint32_t> epoch_order(const Split& rows, bool in_order, uint64_t seed, uint64_t epoch) {
  if (in_order) return data::in_order(rows.rows());
  if (rows.draw) return data::drawn_order(*rows.draw, rows.rows(), seed, epoch);
  return data::shuffled(rows.rows(), seed, epoch);
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
  Evaluated done = evaluate_with(steps, executable, rows, watcher, options);
  if (!done.bad || !watcher.origin) return std::move(done.values);
  std::vector<uint32_t> places;
  FaultyStep step = faulty_batch(*done.bad, rows, done.order.rows, places);
  const double loss = done.bad->record.loss;
  step.what = fmt::format("the loss is {} in the batch that begins with {} row {}",
                          std::isnan(loss) ? std::abs(loss) : loss, rows.name, step.rows[0]);
  if (const std::optional<UserError> error = watcher.origin(step)) throw *error;
  throw UserError(ExitCode::failed, step.what, "look at the weights, and at the rows");
}

}  // namespace heddle::runtime
