// Copies that follow the parameters and buffers of another node, once the optimizer has renewed them.
//
//   {"name": "target", "op": "dense", "share": "online", "average": 0.99}
//     -> %target.weight.moved = %target.weight + (%online.weight.next - %target.weight) * 0.01
//        update %target.weight <- %target.weight.moved
//   "copy": 100  ->  update %target.weight <- %online.weight.next in steps 100, 200, ...
//
// An average is one of parameters: of buffers, such as running statistics, it is a copy in each step. After all updates of
// the step.
#pragma once
#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Adds the updates of all copies.
void renew_copies(Instance& e);

}  // namespace heddle::frontend
