#include "frontend/training/measure_parts.h"
#include "frontend/training/product_logits.h"

namespace heddle::frontend {
namespace {

ir::ValueId sum(MeasureContext& c) {
  check_classes(c);
  if (const auto product = product_logits(c)) return cost_of_product(c, *product);
  const ir::ValueId mean = c.emit("cross_entropy", c.in, {{"ignore_index", c.settings.integer("ignore_index")}});
  return c.emit("mul", {mean, valid_labels(c)});
}

const RegisterMetric perplexity(ratio_metric({.name = "perplexity",
                                              .doc = "exp of the mean cross-entropy",
                                              .inputs = class_inputs(),
                                              .settings = {ignore_setting()},
                                              .classes = true,
                                              .chunks = true},
                                             sum, valid_labels, "exp"));

}  // namespace
}  // namespace heddle::frontend
