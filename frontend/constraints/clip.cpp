// clip, non_negative: each element by itself.
#include <fmt/format.h>

#include "frontend/training/weight_rules.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

Key limit(const std::string& name, const std::string& doc) {
  return {.name = name, .type = KeyType::real, .doc = doc, .range = ir::as_f32({})};
}

void check(const Settings& s) {
  if (!s.has("min") && !s.has("max"))
    s.fail("min", "expected 'min', 'max' or both", "for example \"min\": -1, \"max\": 1");
  if (s.has("min") && s.has("max") && !(s.real("min") <= s.real("max")))
    s.fail("min", fmt::format("'min' is {}, above 'max', which is {}", s.real("min"), s.real("max")));
}

ValueId clipped(ConstraintContext& c) {
  ir::Attrs limits;
  if (c.settings.has("min")) limits["low"] = c.settings.real("min");
  if (c.settings.has("max")) limits["high"] = c.settings.real("max");
  return c.emit("clamp", {c.value}, limits, "clip");
}

const RegisterConstraint clip({.name = "clip",
                               .doc = "min(max(w, min), max); one of the two may be left out",
                               .settings = {limit("min", "the smallest element"), limit("max", "the largest element")},
                               .check = check,
                               .apply = clipped});

const RegisterConstraint non_negative({.name = "non_negative", .doc = "max(w, 0)", .apply = [](ConstraintContext& c) {
                                         return c.emit("clamp", {c.value}, {{"low", 0.0}}, "non_negative");
                                       }});

}  // namespace
}  // namespace heddle::frontend
