// Prints a module's graphs in the language of Graphviz: https://graphviz.org/doc/info/lang.html
//
//   graph @f(input %x: f32[4]) { %y: f32[4] = relu(%x)  return %y }
//     -> digraph "m" { subgraph "cluster_0" { label="f";  "0.v0" [label="x\ninput f32[4]"];  "0.n0" [label="relu"]; ... } }
//
// Nodes are operators. An edge is a value, from the operator that makes it to an operator that reads it. Dashed edges
// are updates.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::tools {

// Names are quoted, without control characters.
std::string dot_text(const std::string& title, const std::vector<const ir::Graph*>& graphs);

}  // namespace heddle::tools
