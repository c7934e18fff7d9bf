// Logits from a product that is too large to store. Losses and metrics compute their sums over a few classes at a time,
// and the product itself is never computed.
//
//   %logits: f32[32,1024,50257] = reshape(add(matmul(%x, %w) {transpose_b}, broadcast(%bias)))     6.6 GB
//     ->  %loss.log_sum, %loss.label_logit, %loss.logit_sum = product_logsumexp(%x, %w, %bias, %labels) {chunk = 1600}
//
// Losses and metrics that read the same product use the same chunks, so that merging equal values leaves one operator
// for them. The gradient computes each chunk again: a step needs a third more operations for the product, but less
// memory.
#pragma once
#include <optional>
#include <string>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

struct ProductLogits {
  ir::ValueId x, w, bias;  // f32[rows, features], f32[classes, features], f32[classes]
  ir::ValueId labels;      // i32[rows]
  ir::ValueId weights;     // weights of rows, f32[rows]; invalid: all 1
  int64_t rows = 0, classes = 0, chunk = 0;
  std::string precision = "f32";  // the precision of the product: the type to which operands may be rounded
};

// The product that computes the first input, if it is too large and has no other reader; otherwise nullopt.
std::optional<ProductLogits> product_logits(MeasureContext& c);

// For each row: the log of the sum of exp(logit), the label's logit (-inf if it is none of the classes), and the sum of
// all logits.
struct ProductSums {
  ir::ValueId total, label, sum;
};
ProductSums sums_of(MeasureContext& c, const ProductLogits& p);

// The same as mean_of_labels and count_of_labels (measure_parts.h), computed from the product.
ir::ValueId mean_of_product(MeasureContext& c, const ProductLogits& p, double smoothing);
ir::ValueId weight_of_product(MeasureContext& c, const ProductLogits& p);
// The sum of -log probability over labels that count.
ir::ValueId cost_of_product(MeasureContext& c, const ProductLogits& p);
// The number of labels that count and are among the k largest logits of their rows. The lowest class wins ties. The
// label's logit is computed separately and compared with those of the other classes.
ir::ValueId among_the_best(MeasureContext& c, const ProductLogits& p, int64_t k);

}  // namespace heddle::frontend
