// The loss scale of a mixed training: gradients of a loss that is so many times larger, and steps that an overflow skips.
//
//   %loss.scaled: f32[] = mul(%loss, %step.loss_scale)
//   %fc.weight.grad: f32[4,8] = gradient(%loss.scaled, %fc.weight)
//   %fc.weight.grad.unscaled: f32[4,8] = mul(%fc.weight.grad, 1 / %step.loss_scale)     what clips and optimizers read
//   %step.is_clean: bool[] = largest_magnitude(%fc.weight.grad, ...) <= the largest f32
//   update %fc.weight <- select(%step.is_clean, %fc.weight.next, %fc.weight)            and so every other state
//   update %step.loss_scale <- as torch.amp.GradScaler: grown behind `interval` clean steps, smaller behind an overflow
//
// By phases, each has its scaled loss and its gradients; the step is clean where those of all phases are that run in it,
// and is skipped as a whole.
//
// With micro-batches (accumulate.h) the loss of each is scaled, and the sums of their gradients are looked at and unscaled.
//
// Micikevicius et al. 2018, arXiv:1710.03740, section 3.2. A fixed scale is a constant, and keeps nothing. The step tells
// its scale as a result, below 0 where it was skipped: nobody on the host is asked.
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

inline constexpr const char* kLargestGradient = "gradient.largest";  // behind the prefix of a phase

class LossScaling {
 public:
  LossScaling(Instance& e, const LossScale& rule);
  ir::ValueId scaled(ir::ValueId loss);
  // Looks whether all are finite, and divides each by the scale. `phase`: the prefix of its names, and whether it runs in
  // this step.
  void unscale(ir::Values& gradients, const std::string& phase = "", ir::ValueId runs = {});
  // Once the gradients of all phases are unscaled.
  void end_phases();

 private:
  Instance& e_;
  ir::Builder b_;
  ir::ValueId scale_;
  ir::ValueId clean_ = {};  // the gradients so far
};

// The loss as gradients are made of it: `loss` itself where the training scales none.
ir::ValueId scaled_loss(Instance& e, const Train& train, ir::ValueId loss);

// Whether nothing has overflowed, once gradients are unscaled; invalid where no loss is scaled.
ir::ValueId clean_step(const ir::Graph& g);

// Once a training graph has all updates: those of a step that is not clean leave each state as it was, but the scale's own,
// which this adds. Nothing where no loss is scaled.
void skip_overflows(Instance& e, const Model& model);

// What the training begins with in a state that is no parameter: 0 but for the scale.
double first_value(const Train& train, const std::string& state);

}  // namespace heddle::frontend
