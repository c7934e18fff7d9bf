// The cost of a kernel on a target: what it must move and compute, and the time that predicts.
#pragma once
#include "ir/graph.h"
#include "ir/target.h"

namespace heddle::ir {

struct Cost {
  int64_t bytes_read = 0, bytes_written = 0;  // operands and results once each
  double flops = 0;
  double seconds = 0;  // max(bytes / bandwidth, flops / rate) + launch; cache bandwidth where all of it fits there
};
Cost kernel_cost(const Graph& kernel, const Target& target);

}  // namespace heddle::ir
