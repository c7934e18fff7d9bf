// Cost: the bytes and operations of a kernel, and its predicted time on a target.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "ir/kernel/count/kernel_counts.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

struct Cost {
  int64_t bytes_read = 0, bytes_written = 0;  // operands and results once each
  int64_t bytes_wasted = 0;                   // fetched in addition, where neighbours in memory are not used together
  double flops = 0;
  double compute_seconds = 0;          // flops / rate; for a tiled product, contract_seconds
  double seconds = 0;                  // with the launch
  double least_seconds = 0;            // a lower bound: bytes once / bandwidth, flops / peak rate, and the launch
  std::optional<KernelCounts> counts;  // of generated text on a GPU
  int64_t bytes() const { return bytes_read + bytes_written + bytes_wasted; }
};
// Only the bytes and operations.
Cost moved_and_computed(const Graph& kernel);
// A fast estimate, which fusion asks for thousands of times: seconds are max(bytes / bandwidth, compute_seconds) +
// launch, with the cache's bandwidth if everything fits in the cache. It has no counts.
Cost estimated_cost(const Graph& kernel, const Target& target);
// The same for a tiled product whose plan is known.
Cost estimated_cost(const Graph& kernel, const ContractPlan& product, const Target& target);
// The cost of a kernel with its final schedule: on a GPU its counts and the seconds that follow from them; on the host
// the estimate.
Cost kernel_cost(const Graph& kernel, const Target& target);
Cost kernel_cost(const Graph& kernel, const ContractPlan& product, const Target& target);
// A lower bound of the estimate for the kernel's product as plain loops, whatever the schedule. `cost` is the estimate
// of the kernel as a tiled product.
double least_seconds_of_loops(const Graph& kernel, const Cost& cost, const Target& target);

// Operations per point of the operator's domain: per element of its result, or per element that it reduces.
double flops_per_point(const OpDef& op);
// Operations of the node alone, with each element of its results computed once.
double node_flops(const Graph& g, const Node& n);

}  // namespace heddle::ir
