// verify_states: checks the states that the graphs of a module share, and the members of flat states.
//
//   graph @train(param %w: f32[4]), graph @eval(param %w: f32[5])                "@eval: state %w has another type in
//                                                                                another graph"
//   group @params { param %a: f32[4] at 0  param %b: f32[4] at 2 }               "%b overlaps another member of %params"
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// One line per violation. A state must have the same type, role and layout in all graphs. The members of a flat state
// must lie inside it without overlap, and occur once.
std::vector<std::string> verify_states(const Module& m);

}  // namespace heddle::ir
