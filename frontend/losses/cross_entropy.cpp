// cross_entropy, by torch.nn.CrossEntropyLoss.
#include "frontend/training/measure_parts.h"
#include "frontend/training/product_logits.h"

namespace heddle::frontend {
namespace {

using ir::ValueId;

double smoothing_of(const MeasureContext& c) { return c.settings.real("label_smoothing"); }

// What the operator of that name computes.
bool is_plain(const MeasureContext& c) {
  return smoothing_of(c) == 0 && c.settings.json("class_weights") == nullptr && !c.weights.valid();
}

ValueId mean(MeasureContext& c) {
  check_classes(c);
  check_class_weights(c);
  if (const auto product = product_logits(c)) return mean_of_product(c, *product, smoothing_of(c));
  if (is_plain(c)) return c.emit("cross_entropy", c.in, {{"ignore_index", c.settings.integer("ignore_index")}});
  c.b.prefix = c.name + ".logits";
  const ValueId logits = c.b.cast(c.in[0], ir::DType::f32);
  return mean_of_labels(c, c.emit("log_softmax", {logits}), smoothing_of(c));
}

ValueId count(MeasureContext& c) {
  if (is_plain(c)) return valid_labels(c);
  if (const auto product = product_logits(c)) return weight_of_product(c, *product);
  return count_of_labels(c);
}

const RegisterLoss cross_entropy(
    {.name = "cross_entropy",
     .doc = "mean of -log softmax(logits)[label] over rows whose label is not ignore_index",
     .inputs = class_inputs(),
     .settings = {ignore_setting(),
                  class_weights_setting(),
                  {.name = "label_smoothing",
                   .type = KeyType::real,
                   .doc = "what the target gives to all classes alike",
                   .fallback = 0.0,
                   .range = ir::between(0, 1)}},
     .classes = true,
     .chunks = true,
     .mean = mean,
     .count = count});

}  // namespace
}  // namespace heddle::frontend
