// max_norm, unit_norm: norms of units, filters or rows (Srebro and Shraibman 2005, doi:10.1007/11503415_37). Keras adds
// 1e-7 to each norm that it divides by, and so shrinks what is short enough by a little in each step; here that stays as
// it is.
#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// w max / max(norm, max): the factor is exactly 1 up to the largest norm, and nothing is divided by 0.
ValueId shortened(ConstraintContext& c) {
  const ValueId norm = c.norm();
  const ValueId most = c.b.like(c.settings.real("max"), norm);
  const ValueId factor = c.emit("div", {most, c.emit("max", {norm, most}, {}, "larger_norm")}, {}, "shortening");
  return c.emit("mul", {c.value, c.spread(factor, "shortening.all")}, {}, "max_norm");
}

// As torch.nn.functional.normalize: what is all zeros stays so.
ValueId normalized(ConstraintContext& c) {
  const ValueId norm = c.norm();
  const ValueId guarded = c.emit("max", {norm, c.b.like(c.settings.real("eps"), norm)}, {}, "guarded_norm");
  return c.emit("div", {c.value, c.spread(guarded, "norm.all")}, {}, "unit_norm");
}

const RegisterConstraint max_norm({.name = "max_norm",
                                   .doc = "w max / max(norm, max): what is longer than max is as long as that",
                                   .settings = {{.name = "max",
                                                 .type = KeyType::real,
                                                 .doc = "the largest norm",
                                                 .required = true,
                                                 .range = as_f32(ir::kAboveZero)}},
                                   .norms = true,
                                   .apply = shortened});

const RegisterConstraint unit_norm({.name = "unit_norm",
                                    .doc = "w / max(norm, eps): all norms are 1",
                                    .settings = {{.name = "eps",
                                                  .type = KeyType::real,
                                                  .doc = "smaller norms count as this one",
                                                  .fallback = 1e-12,
                                                  .range = as_f32(ir::kAboveZero)}},
                                    .norms = true,
                                    .apply = normalized});

}  // namespace
}  // namespace heddle::frontend
