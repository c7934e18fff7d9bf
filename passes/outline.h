// outline: moves nodes of a graph into a kernel and leaves a call.
//
//   %h: f32[4] = exp(%x)                  kernel @exp.neg(%x: f32[4]) {form = ...} {
//   %y: f32[4] = neg(%h)                    %h: f32[4] = exp(%x)
//                                  ->       %y: f32[4] = neg(%h)
//                                           return %y
//                                         }
//                                         %y: f32[4] = call @exp.neg(%x)
//
// Kernels with equal bodies and forms are one kernel, whatever their values are called: it keeps the names of its first
// use.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// A kernel that may come to be: its body, and the values of the graph it would read and define.
struct Extract {
  ir::Graph kernel;
  std::vector<ir::ValueId> operands, results;
};

// The nodes of a kernel, in an order that respects their dependencies. Of a copied one the graph keeps the original, as
// long as anything else reads it.
struct Members {
  std::vector<ir::NodeId> nodes;
  std::set<ir::NodeId> copied = {};
};

enum class Slots {
  shared,    // a value read twice is one input
  separate,  // each use from outside is an input of its own: library calls take one argument per operand
};

// Copies the members into a kernel. Its results are the values of members not copied that something outside reads.
Extract extract(const ir::Graph& g, const Members& members, Slots slots = Slots::shared);

// Adds the kernel to the module, or finds its equal, and replaces the members by a call at the end of g.order.
ir::NodeId replace_by_call(ir::Module& m, ir::Graph& g, const Members& members, Extract&& extract);

// Restores a topological order, each node as near to its place in `order` as its operands allow.
void sort_topologically(ir::Graph& g);

// What decides whether two kernels are one: everything but the names of values and of the kernel.
std::string body_key(const ir::Graph& kernel);

// Names of operators joined by dots; long ones are shortened to the first of those that compute, each once, and the
// number of all operators: reduce_max.sub.exp.x23.
std::string kernel_name(const ir::Graph& kernel);

}  // namespace heddle::passes
