// The training loop. In each epoch, shuffled full batches go through @train and the smaller last batch through
// @train_last. A validation follows each epoch.
//
//   54000 rows, batch 128
//     -> 421 runs of "train", one of "train_last" (112 rows), then the validation rows through "eval"
//
// The order of rows depends on (seed, epoch), and on their buckets where the program has entries for shorter rows
// (runtime/data/bucket_order.h). No code here depends on the device.
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
  std::vector<uint8_t> bucket = {};  // of each row, 0: the shortest; the last one takes all rows. Empty: no buckets
  std::optional<data::RowDraw> draw = {};  // draws the rows of each epoch; nothing: each row once
  int64_t rows() const { return table.rows; }
};

struct TrainOptions {
  std::optional<int64_t> epochs, steps;  // whichever ends first
  uint64_t seed = 0;
  bool drop_last = false;
  bool in_order = false;  // rows are not shuffled: layers carry state from batch to batch
  StepsOptions steps_options = {};
  const RunState* from = nullptr;  // continues from there; the caller has restored the states
  SaveRule save = {};
  std::optional<BestRule> best = {};  // nothing: the best epoch is not kept
  double max_seconds = 0;             // of the training in this process; 0: no limit
  int64_t max_resident_bytes = 0;     // of the process; 0: no limit
  int64_t last_epoch = 0;             // stops after it, so that the training can continue later; 0: no limit
  bool clips = false;                 // gradients are scaled by their norm
  bool gradient_norm = false;         // steps record it
  bool check_finite = false;          // the first step with nan or infinity is replayed, to explain it
};

struct StepEvent {
  int64_t epoch = 0, epochs = 0;          // epoch counts from 1; epochs is 0 where only steps end the run
  int64_t step = 0, steps = 0;            // of this epoch
  int64_t total_step = 0, all_steps = 0;  // of the run
  double loss = 0;                        // of this batch
  Metrics* metrics = nullptr;             // of this epoch so far; nullptr where later steps are running
  std::optional<double> gradient_norm;    // where it is asked for
  std::optional<double> loss_scale = {};  // of the step, where losses are scaled
  bool skipped = false;                   // because its gradients overflowed
  int64_t optimizer_step = 0;             // number of the optimizer's step, also where it was skipped
};
struct EpochEvent {
  int64_t epoch = 0, epochs = 0, total_step = 0, all_steps = 0;
  double seconds = 0;  // of the training steps
  MetricValues train;
  std::optional<MetricValues> validation;
  bool skipped = false;  // all steps, by a loss scale: nothing was measured
};
// A faulty step of a training or an evaluation: its loss is not finite, it made a parameter nan or infinite, or it was
// the kMostSkipped-th in a row whose gradients overflowed. The executable's states are those before the step.
struct FaultyStep {
  const codegen::Entry* entry = nullptr;
  const Split* split = nullptr;
  std::span<const uint32_t> rows;  // of its batch, in the order in which it reads them
  Draws draws;
  std::string what;  // "the loss is nan at step 3 (epoch 1)"
};
// Callbacks of the loop; any may be empty. Steps are reported in order, several at a time, at most a tenth of a second
// after they ran. `interrupted` is called as often, also in evaluations. It returns 0 to go on; from an interrupt on,
// it returns the signal's number.
struct Watcher {
  std::function<void(const StepEvent&)> step;
  std::function<void(const EpochEvent&)> epoch;
  std::function<int()> interrupted;
  std::function<void(const std::string&)> note;  // messages about unusual behaviour, and why
  // Called between two steps when the save rule says so, and once more when the training ends. The device then holds
  // all states of a checkpoint, and the parameters are finite.
  std::function<void(const RunState&)> save;
  std::function<void(const Best&)> better;  // a new best epoch, just after it: the device holds its weights
  // Computes further metrics of the validation, which are not part of the program.
  std::function<MetricValues(const Split&)> measure = {};
  // Called where a run that began with step 1 stops being finite at a full batch of its first epoch. Returns an error
  // that begins with `what` and says where in the model this began, or nothing. The run is over, so it may overwrite
  // the device's states.
  std::function<std::optional<UserError>(int64_t step, const std::string& what)> explain;
  // The same for any step, with TrainOptions::check_finite and in evaluations. Here too the run is over.
  std::function<std::optional<UserError>(const FaultyStep& step)> origin = {};
};
// A training gives up after so many steps in a row whose gradients overflow: lowering the loss scale does not help
// then.
inline constexpr int64_t kMostSkipped = 50;

// Why a training ended before its planned length.
enum class Stopped { no, signal, early_stop, max_time, memory, last_epoch };
std::string to_string(Stopped why);  // "early_stop"
struct TrainResult {
  int64_t steps = 0, epochs = 0;  // finished ones
  double seconds = 0;             // of training and validation
  MetricValues train;
  std::optional<MetricValues> validation;
  int interrupted = 0;  // the signal
  Stopped stopped = Stopped::no;
  std::optional<Best> best;
};

// Trains from the executable's current states. Throws UserError when a loss is not finite (with the row of the data
// that caused it, where one did), when an index is out of range, when kMostSkipped steps in a row were skipped, or when
// a parameter is not finite at the end, so that there is nothing worth saving.
TrainResult train(Executable& executable, const TrainOptions& options, const Split& rows, const Split* validation,
                  const Watcher& watcher);

// Runs every row once through "eval" and "eval_last". The batch of "eval_last" divides the remainder, so it may run
// several times. After an interrupt the metrics are those of the rows so far. Throws UserError where a metric is not
// finite because of a value in the data (it names the metric, the input and the row), and where an index is out of
// range. With Watcher::origin, also throws where the loss of a batch is not finite.
MetricValues evaluate(Executable& executable, const Split& rows, const Watcher& watcher = {},
                      const StepsOptions& options = {});

// The number of steps of the whole run: those of `epochs`, or `steps`, whichever is less; nothing where neither is
// given.
std::optional<int64_t> run_length(std::optional<int64_t> epochs, std::optional<int64_t> steps, int64_t steps_per_epoch);

// The number of steps of an epoch. Throws UserError where there are too few rows for one step.
int64_t epoch_length(int64_t rows, int64_t batch, bool drop_last);

// The rows of an epoch in the order of training. `epoch` counts from 0.
std::vector<uint32_t> epoch_order(const Split& rows, bool in_order, uint64_t seed, uint64_t epoch);

// The number of rows that one run of an entry reads.
int64_t batch_of(const codegen::Entry& entry);

}  // namespace heddle::runtime
