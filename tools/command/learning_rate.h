// LearningRate: the learning rate of a step, for display. The operators' oracles evaluate the part of the training step
// that computes it.
//
//   LearningRate rate(model, executable);
//   rate.behind(100, 4220);   // of the step that follows 100 finished ones, of 4220
#pragma once
#include <cstdint>
#include <optional>

#include "frontend/model.h"
#include "ir/evaluate/evaluate.h"
#include "ir/graph.h"
#include "runtime/executable.h"

namespace heddle::tools {

class LearningRate {
 public:
  // `executable` has the program of a training. Both must outlive this. The states of schedules are read from the
  // executable.
  LearningRate(const frontend::Model& model, runtime::Executable& executable);
  // The rate of the step that follows `steps` finished steps; nan where the training has none. The device must be idle.
  double behind(int64_t steps, int64_t all_steps);
  // The rate of step `step`, counted from 1, of epoch `epoch`. Schedule states are read once per epoch, so it may be
  // called for every step.
  double of_step(int64_t step, int64_t all_steps, int64_t epoch);

 private:
  void build(int64_t all_steps);
  void read_kept();
  double computed(int64_t steps);
  const frontend::Model& model_;
  runtime::Executable& executable_;
  ir::NamedTensors inputs_;
  std::optional<double> constant_;
  int64_t epoch_ = -1;                // the epoch of inputs_
  std::optional<ir::Module> module_;  // made at the first use: not every run needs it
};

}  // namespace heddle::tools
