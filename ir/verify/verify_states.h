// Checks the states of a module: what its graphs share, and what a flat state is made of.
//
//   graph @train(param %w: f32[4]), graph @eval(param %w: f32[5])                "@eval: state %w has another type in
//                                                                                another graph"
//   group @params { param %a: f32[4] at 0  param %b: f32[4] at 2 }               "%b overlaps another member of %params"
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// One line per violation. A state has one type, role and layout in all graphs; the members of a
// flat state lie inside it, apart, each once.
std::vector<std::string> verify_states(const Module& m);

}  // namespace heddle::ir
