// Phases: builds a training step with several players. Each one updates its own parameters, and sees the updates of the
// players before it.
//
//   "phases": [{"name": "critic", "loss": ..., "parameters": "critic.*", ...}, {"name": "actor", ...}]
//     -> %critic.w.grad = gradient(%loss_critic, %critic.w)
//        %critic.w.next = sub(%critic.w, ...)
//        %critic.w.renewed = stop_gradient(%critic.w.next)
//        %score.actor = matmul(%x, %critic.w.renewed)     what %loss_actor reads, and the critic has changed
//        %actor.w.grad = gradient(%loss_actor.actor, %actor.w)
//
// A value that depends on no earlier update is computed only once. Random numbers are those of the step: if a phase
// computes a dropout again, it gets the same mask.
#pragma once
#include <optional>

#include "frontend/training/train_step.h"

namespace heddle::frontend {

// Adds the updates of all phases and of `step`. Returns the losses that the phases compute. Each use of a buffer that
// is computed updates it, in order.
Losses add_phases(Instance& e, const Model& model, const Losses& losses, std::optional<int64_t> total_steps,
                  Diagnostics& errors);

}  // namespace heddle::frontend
