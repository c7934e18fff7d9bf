// Prints a module or graph as .hir text; parse reads it back structurally equal.
#pragma once
#include <string>

#include "ir/graph.h"

namespace heddle::ir {

struct PrintOptions {
  bool locs = false;  // append // model.json:12:5 to each node that has a place
};
std::string print(const Module& m, const PrintOptions& options = {});
std::string print(const Graph& g, const PrintOptions& options = {});

}  // namespace heddle::ir
