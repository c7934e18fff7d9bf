// outline: moves nodes of a graph into a kernel and puts a call in their place.
//
//   %h: f32[4] = exp(%x)                  kernel @exp.neg(%x: f32[4]) {schedule = ...} {
//   %y: f32[4] = neg(%h)                    %h: f32[4] = exp(%x)
//                                  ->       %y: f32[4] = neg(%h)
//                                           return %y
//                                         }
//                                         %y: f32[4] = call @exp.neg(%x)
//
// Kernels with equal bodies and schedules become one kernel, even if the names of their values differ. It keeps the
// names of the first one.
#pragma once
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace heddle::passes {

// A candidate kernel, and the values of the graph that a call of it would read.
struct Extract {
  ir::Graph kernel;
  std::vector<ir::ValueId> operands;
};

// The nodes of a kernel, in topological order. The graph keeps the original of a `copied` node as long as another node
// reads it.
struct Members {
  std::vector<ir::NodeId> nodes;
  std::set<ir::NodeId> copied = {};
};

enum class Slots {
  shared,    // a value read twice is one input
  separate,  // each use from outside is an input of its own: library calls take one argument per operand
};

// Copies `nodes` into a kernel that returns `results`. The graph stays unchanged.
Extract extract(const ir::Graph& g, const std::vector<ir::NodeId>& nodes, const std::vector<ir::ValueId>& results,
                Slots slots = Slots::shared);

// Adds kernels to a module, each distinct body and schedule once.
class KernelTable {
 public:
  explicit KernelTable(ir::Module& m);
  // Returns the name of an equal kernel of the module. If there is none, adds this one under a name of its own.
  std::string add(ir::Graph&& kernel);

 private:
  ir::Module& m_;
  std::unordered_map<std::string, std::string> names_;  // by body
  std::set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

// Replaces the members by a call at the end of g.order, and returns it. The caller must sort_topologically afterwards.
ir::NodeId replace_by_call(ir::Graph& g, const Members& members, const std::vector<ir::ValueId>& operands,
                           const std::vector<ir::ValueId>& results, const std::string& kernel);

// Drops erased nodes from the order and sorts it topologically. A node moves only if an operand stands behind its
// reader.
void sort_topologically(ir::Graph& g);

// A text that is equal for two kernels if they differ only in the names of values and of the kernel.
std::string body_key(const ir::Graph& kernel);

// A name for a kernel: its operators, joined by dots. A long name lists only the first operators that compute
// something, each once, then the number of all operators: reduce_max.sub.exp.x23.
std::string kernel_name(const ir::Graph& kernel);

}  // namespace heddle::passes
