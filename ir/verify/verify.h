// verify: checks the invariants of a module: single assignment, topological order, inferred types, use lists, calls
// against kernels, updates, kernel schedules, states and flat states (ir/verify/verify_states.h), and planned memory
// (ir/verify/verify_memory.h).
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// One line per violation; empty if the module is well formed.
std::vector<std::string> verify(const Module& m);
std::vector<std::string> verify(const Graph& g, const Module* m = nullptr);

}  // namespace heddle::ir
