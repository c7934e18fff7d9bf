// The schedule and the cost of candidate kernels, computed once for all kernels with equal bodies.
//
// A deep model mostly repeats one layer: of the thousands of kernels that fuse considers, only a few hundred differ.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/kernel/cost.h"
#include "passes/fuse/sketch.h"

namespace heddle::passes {

struct Assessment {
  std::string reason;  // why no schedule executes the kernel, or ""; may name values of the first kernel with this body
  std::optional<ir::KernelSchedule> schedule;
  ir::Cost cost;
  std::string kernel;  // the kernel's name in the module; empty until it is outlined
};

class Assessor {
 public:
  explicit Assessor(const ir::Target& target) : target_(target) {}
  const ir::Target& target() const { return target_; }

  Assessment& assess(const ir::Graph& g, const Sketch& s);
  // The cost of elementwise operators on one shape. No schedule is computed, because such kernels always have one.
  const ir::Cost& plain_cost(const ir::Graph& g, const Sketch& s);

 private:
  const ir::Target& target_;
  std::unordered_map<BodyKey, Assessment, BodyKeyHash> bodies_;
  std::unordered_map<BodyKey, ir::Cost, BodyKeyHash> plain_;
};

}  // namespace heddle::passes
