// outline: moves nodes of a graph into a kernel and leaves a call.
//
//   %h: f32[4] = exp(%x)                  kernel @exp.neg(%x: f32[4]) {schedule = ...} {
//   %y: f32[4] = neg(%h)                    %h: f32[4] = exp(%x)
//                                  ->       %y: f32[4] = neg(%h)
//                                           return %y
//                                         }
//                                         %y: f32[4] = call @exp.neg(%x)
//
// Kernels with equal bodies and schedules are one kernel, whatever their values are called: it
// keeps the names of its first use.
#pragma once
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// A kernel that may come to be, and the values of the graph that it would read.
struct Extract {
  ir::Graph kernel;
  std::vector<ir::ValueId> operands;
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

// Copies nodes into a kernel that returns these of their results.
Extract extract(const ir::Graph& g, const std::vector<ir::NodeId>& nodes, const std::vector<ir::ValueId>& results,
                Slots slots = Slots::shared);

// The kernels of a module by their bodies.
class KernelTable {
 public:
  explicit KernelTable(ir::Module& m);
  // The name of the equal kernel that the module has, or of this one, which is then added.
  std::string add(ir::Graph&& kernel);

 private:
  ir::Module& m_;
  std::unordered_map<std::string, std::string> names_;  // by body
  std::set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

// Replaces the members by a call at the end of g.order. Afterwards g.order needs sort_topologically.
ir::NodeId replace_by_call(ir::Graph& g, const Members& members, const std::vector<ir::ValueId>& operands,
                           const std::vector<ir::ValueId>& results, const std::string& kernel);

// Drops erased nodes from the order and makes it topological, each node as near to its place as its operands allow.
void sort_topologically(ir::Graph& g);

// What decides whether two kernels are one: everything but the names of values and of the kernel.
std::string body_key(const ir::Graph& kernel);

// Names of operators joined by dots; long ones are shortened to the first of those that compute, each once, and the
// number of all operators: reduce_max.sub.exp.x23.
std::string kernel_name(const ir::Graph& kernel);

}  // namespace heddle::passes
