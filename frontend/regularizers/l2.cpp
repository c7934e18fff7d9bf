// l2: with the weight k its gradient is 2 k w, that of a weight decay of 2 k that is coupled.
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

const RegisterRegularizer l2({.name = "l2",
                              .doc = "weight times the sum of w^2",
                              .settings = {{.name = "weight",
                                            .type = KeyType::real,
                                            .doc = "what the sum of w^2 is multiplied by",
                                            .required = true,
                                            .range = as_f32(ir::kNotNegative)}},
                              .penalty = [](PenaltyContext& c) {
                                return c.weighted({c.emit("squared_norm", c.parameters, {}, "squared_norm")}, "weight");
                              }});

}  // namespace
}  // namespace heddle::frontend
