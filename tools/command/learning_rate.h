// The learning rate that a step takes, for people: the part of the training step that computes it,
// by the operators' oracles.
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
  // Of the program of a training; both outlive this. What schedules keep is read from the program's states.
  LearningRate(const frontend::Model& model, runtime::Executable& executable);
  // nan where the training has none. The device must have nothing to do.
  double behind(int64_t steps, int64_t all_steps);
  // Of a step, counted from 1, of that epoch, any number of them: what schedules keep is read once for each epoch.
  double of_step(int64_t step, int64_t all_steps, int64_t epoch);

 private:
  void build(int64_t all_steps);
  void read_kept();
  double computed(int64_t steps);
  const frontend::Model& model_;
  runtime::Executable& executable_;
  ir::NamedTensors inputs_;
  std::optional<double> constant_;
  int64_t epoch_ = -1;                // that inputs_ are of
  std::optional<ir::Module> module_;  // made when it is first asked for: not every run has a terminal
};

}  // namespace heddle::tools
