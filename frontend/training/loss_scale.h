// Loss scaling for mixed-precision training: the loss is multiplied by a scale before gradients are taken, and a step
// whose gradients overflow is skipped.
//
//   %loss.scaled: f32[] = mul(%loss, %step.loss_scale)
//   %fc.weight.grad: f32[4,8] = gradient(%loss.scaled, %fc.weight)
//   %fc.weight.grad.unscaled: f32[4,8] = mul(%fc.weight.grad, 1 / %step.loss_scale)     what clips and optimizers read
//   %step.is_clean: bool[] = largest_magnitude(%fc.weight.grad, ...) <= the largest f32
//   update %fc.weight <- select(%step.is_clean, %fc.weight.next, %fc.weight)            and so every other state
//   update %step.loss_scale <- as torch.amp.GradScaler: grown behind `interval` clean steps, smaller behind an overflow
//
// With phases, each phase has its scaled loss and its gradients. The step is clean if the gradients of all phases that
// run in it are finite; else it is skipped as a whole.
//
// With micro-batches (accumulate.h), the loss of each one is scaled, and the sums of their gradients are checked and
// unscaled.
//
// Micikevicius et al. 2018, arXiv:1710.03740, section 3.2. A fixed scale is a constant, without a state. The step
// returns its scale, negated if the step was skipped. The device decides whether to skip, without waiting for the host.
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

inline constexpr const char* kLargestGradient = "gradient.largest";  // behind the prefix of a phase

class LossScaling {
 public:
  LossScaling(Instance& e, const LossScale& rule);
  ir::ValueId scaled(ir::ValueId loss);
  // Computes whether all gradients are finite (clean_step), and divides each by the scale. For a phase: the prefix of
  // its names, and whether it runs in this step.
  void unscale(ir::Values& gradients, const std::string& phase = "", ir::ValueId runs = {});
  // Call once the gradients of all phases are unscaled.
  void end_phases();

 private:
  Instance& e_;
  ir::Builder b_;
  ir::ValueId scale_;
  ir::ValueId clean_ = {};  // the gradients so far
};

// The scaled loss; `loss` itself if the training has no loss scale.
ir::ValueId scaled_loss(Instance& e, const Train& train, ir::ValueId loss);

// bool[]: whether no gradient has overflowed. `unscale` must have been called. Invalid if the training has no loss
// scale.
ir::ValueId clean_step(const ir::Graph& g);

// Makes all updates keep the old states in a step that is not clean, and adds the update of the scale. Must be called
// after all other updates are added. Does nothing if the training has no loss scale.
void skip_overflows(Instance& e, const Model& model);

// The initial value of a state that is no parameter: 0, except for the loss scale.
double first_value(const Train& train, const std::string& state);

}  // namespace heddle::frontend
