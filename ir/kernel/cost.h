// The cost of a kernel on a target: what it must move and compute, and the time that predicts.
#pragma once
#include "ir/graph.h"
#include "ir/kernel/target.h"

namespace heddle::ir {

struct Cost {
  int64_t bytes_read = 0, bytes_written = 0;  // operands and results once each
  int64_t bytes_wasted = 0;                   // fetched beside them, where neighbours in memory are not used together
  double flops = 0;
  double compute_seconds = 0;  // flops / rate, or what a product through tiles takes
  double seconds = 0;  // max(bytes / bandwidth, compute_seconds) + launch; cache bandwidth where all of it fits there
  int64_t bytes() const { return bytes_read + bytes_written + bytes_wasted; }
};
Cost kernel_cost(const Graph& kernel, const Target& target);

// Operations for a point of the operator's domain: an element of its result, or one that it reduces.
double flops_per_point(const OpDef& op);

}  // namespace heddle::ir
