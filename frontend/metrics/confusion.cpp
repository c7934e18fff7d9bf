#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::Dims;
using ir::ValueId;

std::vector<MetricState> states(MeasureContext& c) {
  check_classes(c);
  const int64_t classes = c.b.type(c.in[0]).dims.back();
  return {{"matrix", {classes, classes}}};
}

// A product of what is 1 where the row is of the class, and where it is predicted as it: [rows, classes] each.
ir::Values next(MeasureContext& c, const ir::Values& old) {
  const Dims dims = c.b.type(c.in[0]).dims;
  const Dims matrix = {c.b.type(c.in[0]).elements() / dims.back(), dims.back()};
  const auto rows = [&](ValueId hits, const std::string& what) {
    c.b.prefix = c.name + "." + what + "_rows";
    return c.b.reshape(as_number(c, hits, what), matrix);
  };
  const ValueId valid =
      c.emit("broadcast", {valid_rows(c)}, {{"shape", dims}, {"dims", leading_axes(dims)}}, "spread_valid");
  const ValueId actual = rows(c.emit("and", {label_hits(c), valid}, {}, "actual"), "actual");
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  const ValueId predicted = rows(class_hits(c, best, "predicted"), "predicted");
  return with_batch(c, old, {c.emit("matmul", {actual, predicted}, {{"transpose_a", true}}, "counts")});
}

// A result is computed: a state itself is none.
ValueId finish(MeasureContext& c) {
  c.b.prefix = c.name + ".one";
  return c.emit("mul", {c.in[0], c.b.like(1, c.in[0])}, {}, "counts");
}

const RegisterMetric confusion({.name = "confusion",
                                .doc = "how many rows of class i (a line) were predicted as class j (a column)",
                                .inputs = class_inputs(),
                                .settings = {ignore_setting()},
                                .classes = true,
                                .states = states,
                                .next = next,
                                .finish = finish});

}  // namespace
}  // namespace heddle::frontend
