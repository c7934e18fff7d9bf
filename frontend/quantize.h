// train.quantize: quantization-aware training. Inputs and weights of products are rounded to 8-bit whole numbers during
// training; gradients ignore the rounding (Jacob et al. 2018, arXiv 1712.05877; straight-through, Bengio et al. 2013,
// arXiv 1308.3432).
//
//   "quantize": {"match": "fc.weight"} of {"name": "fc", "op": "dense", "units": 3} over [N,8]
//     ->  %fc.weight.observed_low, %fc.weight.observed_high: f32[], buffers: what inputs have lain between
//         %q: f32[N,8] = round_within(%x * (1 / step), least, most), the step and limits of what was observed
//         %k: f32[3,8], %scale: f32[3] = quantize_weight(%fc.weight)
//         %y: f32[N,3] = matmul(%q, %k) {transpose_b = true} * (%scale * step)
//
// The rule is that of ir/int8.h. An integer product in i32 (passes/int8_products.h) has the same bits. A training step
// observes the range of the inputs: the smallest and the largest number so far, or moving averages of those of batches.
// Both start at 0. Evaluations and predictions do not change the ranges. Before step `start`, the product reads x and
// the weight without rounding, and the scale is 1.
//
// The gradient with respect to x is that of x / step inside the limits, and 0 outside. The gradient with respect to the
// weight is that of w / scale. Steps and scales count as constants, as in PyTorch's fake quantization. The product
// computes in f32, also in mixed-precision trainings, because its sums do not fit into 16 bits.
#pragma once
#include <functional>
#include <string>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Access to the buffers of ranges. `state` returns the current value of a buffer, after earlier uses. `update` sets the
// next one.
struct RangeStates {
  std::function<ir::ValueId(const std::string& path, const Location& where)> state;
  std::function<void(ir::ValueId now, ir::ValueId next)> update;
};

// bool[]: whether enough steps are finished to start with rounding. Invalid if rounding is always on. Must be built
// before all layers.
ir::ValueId quantizes_now(Instance& e, const Quantize& quantize);

// Quantizes the products of a layer by weights that `match` matches: its nodes from index `first` of the order on, and
// its results.
void quantize_layer(Instance& e, const Model& model, ir::ValueId now, size_t first, ir::Values& results,
                    const RangeStates& ranges);

// Reports as errors: globs that quantize nothing, and weights with a reader that is no product.
void check_quantize(const Quantize& quantize, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
