// The cost of a kernel on a target: what it must move and compute, and the time that predicts.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

struct Cost {
  int64_t bytes_read = 0, bytes_written = 0;  // operands and results once each
  int64_t bytes_wasted = 0;                   // fetched beside them, where neighbours in memory are not used together
  double flops = 0;
  double compute_seconds = 0;          // flops / rate, or what a product through tiles takes
  double seconds = 0;                  // with the launch
  double least_seconds = 0;            // bytes once / bandwidth, flops / the peak's rate, and the launch
  std::optional<KernelCounts> counts;  // of generated text on a GPU
  int64_t bytes() const { return bytes_read + bytes_written + bytes_wasted; }
};
// The bytes and operations alone.
Cost moved_and_computed(const Graph& kernel);
// What fusion asks thousands of times: seconds are max(bytes / bandwidth, compute_seconds) + launch, with the cache's
// bandwidth where all of it fits there. Without counts.
Cost estimated_cost(const Graph& kernel, const Target& target);
// Of a product through tiles whose plan is known.
Cost estimated_cost(const Graph& kernel, const ContractPlan& product, const Target& target);
// Of a kernel in its schedule, once it is decided: on a GPU its counts, and the seconds that follow
// from them; else the same.
Cost kernel_cost(const Graph& kernel, const Target& target);
Cost kernel_cost(const Graph& kernel, const ContractPlan& product, const Target& target);
// What `estimated_cost` says at least of the kernel's products as loops, whatever the schedule, where
// it says `cost` of them through tiles.
double least_seconds_of_loops(const Graph& kernel, const Cost& cost, const Target& target);

// Operations for a point of the operator's domain: an element of its result, or one that it reduces.
double flops_per_point(const OpDef& op);
// Operations of the node alone: all elements of its results, each computed once.
double node_flops(const Graph& g, const Node& n);

}  // namespace heddle::ir
