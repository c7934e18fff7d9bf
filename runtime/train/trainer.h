// The training loop: epochs of shuffled batches through @train, the ragged rest through @train_last, validation after
// each epoch.
//
//   54000 rows, batch 128
//     -> 421 runs of "train", one of "train_last" (112 rows), then the validation rows through "eval"
//
// The order of rows is a function of (seed, epoch), and of their buckets where the program has entries of shorter rows
// (runtime/data/bucket_order.h). Nothing here is particular to a device.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "runtime/data/row_draw.h"
#include "runtime/train/metrics.h"
#include "runtime/train/run_state.h"
#include "runtime/train/steps.h"

namespace heddle::runtime {

// The rows of a split. `name` is for messages: "training".
struct Split {
  std::string name;
  data::Table table;
  std::vector<uint8_t> bucket = {};  // of each row, the shortest 0; the last is that of all rows. Empty: there are none
  std::optional<data::RowDraw> draw = {};  // of the rows of each epoch; nothing: each once
  int64_t rows() const { return table.rows; }
};

struct TrainOptions {
  std::optional<int64_t> epochs, steps;  // whichever ends first
  uint64_t seed = 0;
  bool drop_last = false;
  bool in_order = false;  // rows are read as they lie: what a layer keeps goes on from batch to batch
  StepsOptions steps_options = {};
  const RunState* from = nullptr;  // goes on from there, with the executable's states as they were
  SaveRule save = {};
  std::optional<BestRule> best = {};  // else nothing is kept of the best epoch
  double max_seconds = 0;             // of this process' training; 0: no limit
  int64_t max_resident_bytes = 0;     // of the process; 0: no limit
  int64_t last_epoch = 0;             // ends behind it, as a longer training that goes on from there; 0: no limit
  bool clips = false;                 // gradients are scaled by their norm
  bool gradient_norm = false;         // steps tell of it
  bool check_finite = false;          // the first step that makes what is not finite is done once more
};

struct StepEvent {
  int64_t epoch = 0, epochs = 0;          // epoch counts from 1; epochs is 0 where only steps end the run
  int64_t step = 0, steps = 0;            // of this epoch
  int64_t total_step = 0, all_steps = 0;  // of the run
  double loss = 0;                        // of this batch
  Metrics* metrics = nullptr;             // of this epoch so far; nullptr where the device has gone on since
  std::optional<double> gradient_norm;    // where it is asked for
  std::optional<double> loss_scale = {};  // that the step had, where losses are scaled
  bool skipped = false;                   // since its gradients overflowed
  int64_t optimizer_step = 0;             // which step of the optimizer it is, or was to be
};
struct EpochEvent {
  int64_t epoch = 0, epochs = 0, total_step = 0, all_steps = 0;
  double seconds = 0;  // of the training steps
  MetricValues train;
  std::optional<MetricValues> validation;
};
// A step, of a training or an evaluation, whose loss is not finite, that ruined a parameter, or whose gradients overflowed
// once too often. The executable's states are those before it.
struct FaultyStep {
  const codegen::Entry* entry = nullptr;
  const Split* split = nullptr;
  std::span<const uint32_t> rows;  // of its batch, in the order in which it takes them
  Draws draws;
  std::string what;  // "the loss is nan at step 3 (epoch 1)"
};
// Whom the loop tells; any may be empty. Steps are told of in order, some at once, a tenth of a
// second after they ran at most. As often `interrupted` is asked, in evaluations too; it returns 0
// to go on, or a signal's number from then on.
struct Watcher {
  std::function<void(const StepEvent&)> step;
  std::function<void(const EpochEvent&)> epoch;
  std::function<int()> interrupted;
  std::function<void(const std::string&)> note;  // what is done otherwise than usual, and why
  // Between two steps, when the rule says so, and once more where the training ends: by then the device holds all that
  // goes into a checkpoint. Called with finite parameters only.
  std::function<void(const RunState&)> save;
  std::function<void(const Best&)> better;  // a new best epoch; evaluations read its weights now
  // Further metrics of the validation, which the program does not compute.
  std::function<MetricValues(const Split&)> measure = {};
  // Asked where the numbers of a run that began with step 1 stopped being finite at one of its
  // first epoch's full batches: an error that begins with `what` and says where, or nothing. The
  // run is over: the device's states may be used.
  std::function<std::optional<UserError>(int64_t step, const std::string& what)> explain;
  // With TrainOptions::check_finite, and in evaluations, the same of any step. The run is over, too.
  std::function<std::optional<UserError>(const FaultyStep& step)> origin = {};
};
// Steps in a row that overflow before a training gives up: the loss scale does not help.
inline constexpr int64_t kMostSkipped = 50;

// Why a training ended before its length.
enum class Stopped { no, signal, early_stop, max_time, memory, last_epoch };
std::string to_string(Stopped why);  // "early_stop"
struct TrainResult {
  int64_t steps = 0, epochs = 0;  // finished ones
  double seconds = 0;             // training and validation
  MetricValues train;
  std::optional<MetricValues> validation;
  int interrupted = 0;  // the signal
  Stopped stopped = Stopped::no;
  std::optional<Best> best;
};

// Runs from the state the executable is in. Throws UserError when a loss is not finite, with the
// row of the data where it came from there, when an index was outside of what it was to find, when kMostSkipped steps in
// a row were skipped, or when a parameter is not finite at the end: then there is nothing worth saving.
TrainResult train(Executable& executable, const TrainOptions& options, const Split& rows, const Split* validation,
                  const Watcher& watcher);

// Every row once, through "eval" and "eval_last" (run as often as it takes: its batch divides the remainder). Where
// `watcher` says that it was interrupted, the metrics are those of the rows so far. Throws UserError where a metric is
// not finite and the data are not: with the metric, the input and the row; and where an index was outside. With
// Watcher::origin also where the loss of a batch is not finite.
MetricValues evaluate(Executable& executable, const Split& rows, const Watcher& watcher = {},
                      const StepsOptions& options = {});

// Steps of the whole run: those of `epochs`, or `steps`, whichever ends first; nothing where neither is given.
std::optional<int64_t> run_length(std::optional<int64_t> epochs, std::optional<int64_t> steps, int64_t steps_per_epoch);

// Steps of an epoch. Throws UserError where the rows give none.
int64_t epoch_length(int64_t rows, int64_t batch, bool drop_last);

// The rows of an epoch, counted from 0, in the order in which they are trained with.
std::vector<uint32_t> epoch_order(const Split& rows, bool in_order, uint64_t seed, uint64_t epoch);

// Rows that one run of an entry takes.
int64_t batch_of(const codegen::Entry& entry);

}  // namespace heddle::runtime
