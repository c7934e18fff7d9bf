// How near a step on the host comes to the evaluator's, tensor by tensor.
//
//   Comparison c{.narrowest = narrowest_unit(module)};
//   c.values("train 3, fc.weight", got, exact, rounded, &before);
//   c.faults  ->  {"train 3, fc.weight: off by 0.02, allowed is 0.0001"}
#pragma once
#include <string>
#include <vector>

#include "ir/evaluate/tensor.h"
#include "ir/graph.h"

namespace heddle::testing {

// Of the floating types of a module's values: the unit in the last place of 1.
double narrowest_unit(const ir::Module& module);

// How far a tensor may be from the exact one: a thousandth of how much the step changed it, or
// eight units in the last place of the narrowest type of the model where that is more; the unit in
// the last place of its largest element, twice; or four times as far as the evaluator is that
// rounds every result to its type. Rules that divide a gradient by its own size make the sign of a
// small one count as much as a large one: where the model has 16 bits, in which that sign is noise,
// the tenth of the elements that is off most is left out.
struct Comparison {
  double narrowest = 0x1p-23;
  int compared = 0;
  double worst = 0;  // error over what it may be
  std::vector<std::string> faults = {};

  // `before`: what a state was; null for results.
  void values(const std::string& what, const ir::Tensor& got, const ir::Tensor& exact, const ir::Tensor& rounded,
              const ir::Tensor* before);
};

}  // namespace heddle::testing
