// bits_per_character: the cross-entropy of a character model in bits, log2 of its perplexity.
#include <numbers>

#include "frontend/training/measure_parts.h"
#include "frontend/training/product_logits.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

ValueId sum(MeasureContext& c) {
  check_classes(c);
  if (const auto product = product_logits(c)) return cost_of_product(c, *product);
  const ValueId mean = c.emit("cross_entropy", c.in, {{"ignore_index", c.settings.integer("ignore_index")}});
  return c.emit("mul", {mean, valid_labels(c)});
}

MetricDef make() {
  MetricDef def = ratio_metric({.name = "bits_per_character",
                                .doc = "mean cross-entropy in bits: that of labels that are characters",
                                .inputs = class_inputs(),
                                .settings = {ignore_setting()},
                                .classes = true,
                                .chunks = true},
                               sum, valid_labels);
  def.finish = [](MeasureContext& c) {
    const ValueId nats = c.emit("div", c.in, {}, "nats");
    c.b.prefix = c.name + ".nats_of_a_bit";
    return c.emit("div", {nats, c.b.like(std::numbers::ln2, nats)}, {}, "bits");
  };
  return def;
}

const RegisterMetric bits_per_character(make());

}  // namespace
}  // namespace heddle::frontend
