// Old states: an output or next value that is itself a state with an update becomes a copy made at
// the first step.
//
//   update %w <- %w.next            %w.old: f32[4] = reshape(%w)      (no view: alias and pack give it bytes of its own)
//   return %w                 ->    update %w <- %w.next
//                                   return %w.old
//
// Updates come before outputs are read and other states are moved, so the old value must lie
// elsewhere by then.
#pragma once
#include "ir/graph.h"

namespace heddle::passes {

bool copy_old_states(ir::Graph& g);  // whether there was one

}  // namespace heddle::passes
