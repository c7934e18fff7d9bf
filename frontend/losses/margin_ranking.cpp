// margin_ranking, by torch.nn.MarginRankingLoss.
#include <fmt/format.h>

#include "frontend/training/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

// The third input as numbers of the first one's type.
ValueId check_order(MeasureContext& c) {
  check_values(c);
  const ir::Type values = c.b.type(c.in[0]), order = c.b.type(c.in[2]);
  if ((order.dtype != values.dtype && order.dtype != ir::DType::i32) || order.dims != values.dims)
    c.fail(fmt::format("expected targets {}{} or i32, one for each pair, found {}{}", ir::to_string(values.dtype),
                       c.shape_text(values.dims), ir::to_string(order.dtype), c.shape_text(order.dims)),
           "a target is 1 where the first value is to be the larger one, -1 where the second is");
  c.b.prefix = c.name + ".target";
  return c.b.cast(c.in[2], values.dtype);
}

ValueId mean(MeasureContext& c) {
  const ValueId target = check_order(c);
  const ValueId difference = c.emit("sub", {c.in[1], c.in[0]}, {}, "difference");
  const ValueId wrong = c.emit("mul", {target, difference}, {}, "wrong");
  const ValueId missing = c.emit("add", {wrong, like(c, c.settings.real("margin"), wrong)}, {}, "missing");
  return mean_of_elements(c, c.emit("relu", {missing}));
}

const RegisterLoss margin_ranking({.name = "margin_ranking",
                                   .doc = "mean of max(0, -t (x1 - x2) + margin), targets -1 and 1",
                                   .inputs = {"x1", "x2", "target"},
                                   .settings = {{.name = "margin",
                                                 .type = KeyType::real,
                                                 .doc = "by how much the right one is to be larger",
                                                 .fallback = 0.0,
                                                 .range = ir::as_f32({})}},
                                   .mean = mean,
                                   .count = count_of_elements});

}  // namespace
}  // namespace heddle::frontend
