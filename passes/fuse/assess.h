// What a kernel would cost and how it would be executed; answered once for all kernels with equal bodies.
//
// Most of a deep model is one layer over and over: of thousands of kernels that fuse considers, a few hundred differ.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/kernel/cost.h"
#include "passes/fuse/sketch.h"

namespace heddle::passes {

struct Assessment {
  std::string reason;  // why no schedule executes it, of the first such kernel: it may speak of that one's values
  std::optional<ir::KernelSchedule> schedule;
  ir::Cost cost;
  std::string kernel;  // its name in the module, once it is outlined
};

class Assessor {
 public:
  explicit Assessor(const ir::Target& target) : target_(target) {}
  const ir::Target& target() const { return target_; }

  Assessment& assess(const ir::Graph& g, const Sketch& s);
  // Without a schedule: of elementwise operators on one shape, which always have one.
  const ir::Cost& plain_cost(const ir::Graph& g, const Sketch& s);

 private:
  const ir::Target& target_;
  std::unordered_map<BodyKey, Assessment, BodyKeyHash> bodies_;
  std::unordered_map<BodyKey, ir::Cost, BodyKeyHash> plain_;
};

}  // namespace heddle::passes
