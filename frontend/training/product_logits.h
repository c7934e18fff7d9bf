// Logits that are a product too large to exist whole: what losses and metrics read of them is computed of a few classes
// at a time, and the product itself is never asked for.
//
//   %logits: f32[32,1024,50257] = reshape(add(matmul(%x, %w) {transpose_b}, broadcast(%bias)))     6.6 GB
//     ->  %loss.log_sum, %loss.label_logit, %loss.logit_sum = product_logsumexp(%x, %w, %bias, %labels) {chunk = 1600}
//
// Losses and metrics that read the same product find the same chunks, which become one each when equal values merge. The
// gradient computes each chunk once more: a step takes a third more operations for the product, and less memory.
#pragma once
#include <optional>
#include <string>

#include "frontend/training/training_def.h"

namespace heddle::frontend {

struct ProductLogits {
  ir::ValueId x, w, bias;  // f32[rows, features], f32[classes, features], f32[classes]
  ir::ValueId labels;      // i32[rows]
  ir::ValueId weights;     // of rows, f32[rows]; invalid: all 1
  int64_t rows = 0, classes = 0, chunk = 0;
  std::string precision = "f32";  // what operands may be rounded to, which the network's own product would be
};

// What the first input is, where it is such a product and nothing else reads it.
std::optional<ProductLogits> product_logits(MeasureContext& c);

// Of each row the log of the sum of exp(logit), its label's logit (-inf where that is no class), and the sum of all.
struct ProductSums {
  ir::ValueId total, label, sum;
};
ProductSums sums_of(MeasureContext& c, const ProductLogits& p);

// Mean and weight of labels, as mean_of_labels and count_of_labels have them.
ir::ValueId mean_of_product(MeasureContext& c, const ProductLogits& p, double smoothing);
ir::ValueId weight_of_product(MeasureContext& c, const ProductLogits& p);
// The sum of -log probability over labels that count.
ir::ValueId cost_of_product(MeasureContext& c, const ProductLogits& p);
// How many labels that count are among the k largest logits of their rows; the lowest class wins ties. The label's logit
// is computed by itself, and compared with those of the other classes.
ir::ValueId among_the_best(MeasureContext& c, const ProductLogits& p, int64_t k);

}  // namespace heddle::frontend
