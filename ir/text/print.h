// print: writes a module or a graph as .hir text. parse() of the text gives a structurally equal module.
#pragma once
#include <string>

#include "ir/graph.h"

namespace heddle::ir {

struct PrintOptions {
  bool locs = false;  // append // model.json:12:5 to each node that has a location
};
std::string print(const Module& m, const PrintOptions& options = {});
std::string print(const Graph& g, const PrintOptions& options = {});

}  // namespace heddle::ir
