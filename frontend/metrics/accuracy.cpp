#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId correct(MeasureContext& c) {
  check_classes(c);
  const ValueId best = c.emit("argmax", {c.in[0]}, {{"axis", int64_t{-1}}});
  const ValueId hits = c.emit("and", {c.emit("eq", {best, c.in[1]}, {}, "equal"), valid_rows(c)}, {}, "hits");
  return sum_of(c, as_number(c, hits, "hits"), {}, "reduce_sum");
}

const RegisterMetric accuracy(
    ratio_metric({.name = "accuracy",
                  .doc = "share of rows whose largest logit is the label's; the lowest index wins ties",
                  .inputs = class_inputs(),
                  .higher_is_better = true,
                  .settings = {ignore_setting()},
                  .classes = true},
                 correct, valid_labels));

}  // namespace
}  // namespace heddle::frontend
