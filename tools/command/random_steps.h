// An entry of a model, compiled by itself, and its steps over random batches: what bench and profile time.
//
//   RandomSteps steps(request);
//   steps.block(64)        -> seconds of 64 steps
//   steps.profile(64)      -> what each step of the entry took of one
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "runtime/feed.h"
#include "tools/command/model_arguments.h"
#include "tools/command/random_inputs.h"
#include "tools/driver/open_device.h"

namespace heddle::tools {

struct StepsRequest {
  ModelArguments model;
  driver::DeviceRequest device;
  std::string entry = "train";
  std::vector<std::string> weights;  // files; none: those that init draws
  int repeat = 64;                   // steps of one submission
  bool pipelined = false;
  bool explain = false;     // keeps the module, and predicts what each step takes
  bool as_predict = false;  // an entry 'predict' takes the rows that `heddle predict` takes at once, without --batch
  // Of who measures: choices beside those of the arguments' table, and who hears of what was chosen.
  std::optional<driver::Choices> choices = {};
  passes::Decided decided = {};
  codegen::OneKernel one_kernel = codegen::OneKernel::where_faster;
};

// The model, the device and the entry.
void add_steps_arguments(Command& command, StepsRequest& request);

// Steps over random batches in turn: a fed entry takes them from a table, several a submission;
// into the inputs of another they are written before each step. The host waits after each
// submission, or, pipelined, for the one before: as a training does.
class RandomSteps {
 public:
  // Reads and compiles the model, and runs init. Throws UserError where the model has no such entry.
  explicit RandomSteps(const StepsRequest& request);

  double block(int64_t steps);  // runs so many, and returns the seconds that they took
  // So many steps with a time for each step of the entry; more than 1 only if `repeats_itself`.
  runtime::StepProfile profile(int64_t steps, bool spans = false);
  bool repeats_itself() const { return feed_.has_value(); }

  const driver::OpenedDevice& device() const { return device_; }
  const driver::Compiled& compiled() const { return compiled_; }
  const codegen::Program& program() const { return compiled_.program; }
  const codegen::Entry& entry() const { return *entry_; }
  int64_t batch() const;  // 1 where the entry reads no rows

 private:
  struct Submission {
    uint64_t number;
    int64_t steps;
  };
  int64_t passes() const;
  void begin();
  void finish(size_t under_way);
  int64_t run_fed(int64_t left);
  int64_t run_written();

  driver::ReadModel model_;  // locations of the module point into it
  driver::OpenedDevice device_;
  driver::Compiled compiled_;
  const codegen::Entry* entry_ = nullptr;
  std::unique_ptr<runtime::Executable> executable_;
  int64_t repeat_;
  size_t most_under_way_;
  std::deque<Submission> under_way_;
  std::optional<InputRing> ring_;
  runtime::data::Table table_;
  std::vector<uint32_t> order_;
  std::optional<runtime::Feed> feed_;
  int64_t batches_left_ = 0;
};

}  // namespace heddle::tools
