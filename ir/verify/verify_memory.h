// Checks planned memory: every value has bytes of its own or shares them rightly, and keeps them
// until its last reader.
//
//   %y: f32[4] = exp(%x) at %x        wrong where a later step reads %x:
//                                     "%x is overwritten by %y before add reads it"
//
// The plan is executed without data: each byte remembers the value that wrote it, so that views,
// concatenations in place and results over operands are judged by what they do, not by how they
// were decided.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::ir {

// One line per violation. Without a plan only views and bases are checked.
std::vector<std::string> verify_memory(const Graph& g, const Module* m);

}  // namespace heddle::ir
