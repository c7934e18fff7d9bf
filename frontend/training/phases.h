// Phases: several players in one step. Each renews its own parameters, and sees what those before it have renewed.
//
//   "phases": [{"name": "critic", "loss": ..., "parameters": "critic.*", ...}, {"name": "actor", ...}]
//     -> %critic.w.grad = gradient(%loss_critic, %critic.w)
//        %critic.w.next = sub(%critic.w, ...)
//        %critic.w.renewed = stop_gradient(%critic.w.next)
//        %score.actor = matmul(%x, %critic.w.renewed)     what %loss_actor reads, and the critic has changed
//        %actor.w.grad = gradient(%loss_actor.actor, %actor.w)
//
// What no earlier phase has changed is computed once. Draws are those of the step: a phase that computes a dropout again
// draws the same mask.
#pragma once
#include <optional>

#include "frontend/training/train_step.h"

namespace heddle::frontend {

// Adds the updates of all phases and of `step`. Returns the losses as the phases see them. A buffer is renewed by each
// use that is computed, in order.
Losses add_phases(Instance& e, const Model& model, const Losses& losses, std::optional<int64_t> total_steps,
                  Diagnostics& errors);

}  // namespace heddle::frontend
