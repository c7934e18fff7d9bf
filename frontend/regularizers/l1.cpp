// l1, elastic: sums of absolute values, whose gradient moves weights to 0 at one speed (Tibshirani 1996; Zou and Hastie
// 2005, doi:10.1111/j.1467-9868.2005.00503.x).
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId absolute(PenaltyContext& c, std::string_view factor) {
  ir::Values sums;
  for (const ValueId p : c.parameters)
    sums.push_back(c.emit("reduce_sum", {c.emit("abs", {p}, {}, "magnitudes")}, {}, "size"));
  return c.weighted(sums, factor);
}

Key factor(const std::string& name, const std::string& of) {
  return {.name = name,
          .type = KeyType::real,
          .doc = "what the sum of " + of + " is multiplied by",
          .required = true,
          .range = as_f32(ir::kNotNegative)};
}

const RegisterRegularizer l1({.name = "l1",
                              .doc = "weight times the sum of |w|; the gradient at 0 is 0",
                              .settings = {factor("weight", "|w|")},
                              .penalty = [](PenaltyContext& c) { return absolute(c, "weight"); }});

const RegisterRegularizer elastic({.name = "elastic",
                                   .doc = "l1 times the sum of |w| plus l2 times the sum of w^2",
                                   .settings = {factor("l1", "|w|"), factor("l2", "w^2")},
                                   .penalty = [](PenaltyContext& c) {
                                     const ValueId magnitudes = absolute(c, "l1");
                                     const ValueId squares =
                                         c.weighted({c.emit("squared_norm", c.parameters, {}, "squared_norm")}, "l2");
                                     return c.emit("add", {magnitudes, squares}, {}, "both");
                                   }});

}  // namespace
}  // namespace heddle::frontend
