// RandomSteps: compiles one entry of a model and runs its steps on random batches. heddle bench and heddle profile
// measure these.
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
  std::vector<std::string> weights;  // files; empty: init draws the weights
  int repeat = 64;                   // steps of one submission
  bool pipelined = false;
  bool explain = false;     // keeps the module, and predicts the time of each step
  bool as_predict = false;  // without --batch, the entry 'predict' has as many rows as in `heddle predict`
  // For `heddle tune`: choices instead of those of the table in the arguments, and a callback for the decisions.
  std::optional<driver::Choices> choices = {};
  passes::Decided decided = {};
  codegen::OneKernel one_kernel = codegen::OneKernel::where_faster;
};

// Adds the options for the model, the device and the entry.
void add_steps_arguments(Command& command, StepsRequest& request);

// Runs steps on several random batches in turn. A fed entry reads them from a table, several steps per submission. For
// other entries, the inputs are written before each step. The host waits after each submission; when pipelined, it
// waits for the previous submission, as a training does.
class RandomSteps {
 public:
  // Reads and compiles the model, and runs init. Throws UserError where the model has no such entry.
  explicit RandomSteps(const StepsRequest& request);

  double block(int64_t steps);  // runs `steps` steps and returns their seconds
  // Profiles `steps` runs of the entry. More than 1 only if `repeats_itself`.
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
