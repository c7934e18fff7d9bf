// Copies: nodes whose parameters and buffers follow those of another node, after each optimizer step.
//
//   {"name": "target", "op": "dense", "share": "online", "average": 0.99}
//     -> %target.weight.moved = %target.weight + (%online.weight.next - %target.weight) * 0.01
//        update %target.weight <- %target.weight.moved
//   "copy": 100  ->  update %target.weight <- %online.weight.next in steps 100, 200, ...
//
// With "average", only parameters are averaged. Buffers, such as running statistics, are copied in each step.
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Adds the updates of all copies. Must be called after all other updates of the step are added.
void renew_copies(Instance& e);

}  // namespace heddle::frontend
