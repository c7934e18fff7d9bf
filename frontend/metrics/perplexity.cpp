#include "frontend/measure_parts.h"

namespace heddle::frontend {
namespace {

ir::ValueId sum(MeasureContext& c) {
  check_classes(c);
  const ir::ValueId mean = c.emit("cross_entropy", c.in, {{"ignore_index", c.settings.integer("ignore_index")}});
  return c.emit("mul", {mean, valid_labels(c)});
}

const RegisterMetric perplexity({.name = "perplexity",
                                 .doc = "exp of the mean cross-entropy",
                                 .inputs = class_inputs(),
                                 .finish = "exp",
                                 .settings = {ignore_setting()},
                                 .classes = true,
                                 .numerator = sum,
                                 .denominator = valid_labels});

}  // namespace
}  // namespace heddle::frontend
