// Old states: if an output or a next value is a state that the graph updates, replaces it by a copy made at the first
// step.
//
//   update %w <- %w.next            %w.old: f32[4] = reshape(%w)      (no view: alias and pack give it bytes of its own)
//   return %w                 ->    update %w <- %w.next
//                                   return %w.old
//
// Updates happen before outputs are read and other states are moved, so the old value must be saved before.
#pragma once
#include "ir/graph.h"

namespace heddle::passes {

bool copy_old_states(ir::Graph& g);  // returns whether it added a copy

}  // namespace heddle::passes
