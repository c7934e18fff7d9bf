// train.quantize: products whose inputs and weights are whole numbers of 8 bits already while they train, with gradients
// as if they were not (Jacob et al. 2018, arXiv 1712.05877; straight-through, Bengio et al. 2013, arXiv 1308.3432).
//
//   "quantize": {"match": "fc.weight"} of {"name": "fc", "op": "dense", "units": 3} over [N,8]
//     ->  %fc.weight.observed_low, %fc.weight.observed_high: f32[], buffers: what inputs have lain between
//         %q: f32[N,8] = round_within(%x * (1 / step), least, most), the step and limits of what was observed
//         %k: f32[3,8], %scale: f32[3] = quantize_weight(%fc.weight)
//         %y: f32[N,3] = matmul(%q, %k) {transpose_b = true} * (%scale * step)
//
// The rule is that of ir/int8.h, and a product of whole numbers in i32 (passes/int8_products.h) has the same bits. A
// training observes its inputs first, by the smallest and the largest number so far, or by moving averages of those of
// batches; each begins as 0. In evaluations and predictions the observed ranges are what they are. Before
// `start` the product reads x and the weight as they are: the scale is then 1.
//
// The gradient by x is that of x / step where it is rounded inside of the limits, and 0 outside; by the weight that of
// w / scale. Steps and scales count as constants, as in PyTorch's fake quantization. The product computes in f32, in mixed
// trainings, too: its sums do not fit into 16 bits.
#pragma once
#include <functional>
#include <string>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

// Where ranges are kept: a buffer by its path, as the uses before have left it, and what a use makes of that.
struct RangeStates {
  std::function<ir::ValueId(const std::string& path, const Location& where)> state;
  std::function<void(ir::ValueId now, ir::ValueId next)> update;
};

// Whether the steps that are finished are enough for the training to compute in whole numbers, bool[]; invalid: they always
// are. To be built in front of all layers.
ir::ValueId quantizes_now(Instance& e, const Quantize& quantize);

// Nodes of a layer, from this place of the order on, and its results: products by weights that `match` means.
void quantize_layer(Instance& e, const Model& model, ir::ValueId now, size_t first, ir::Values& results,
                    const RangeStates& ranges);

// Globs that quantise nothing, and weights that something else than a product reads, too, are errors.
void check_quantize(const Quantize& quantize, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
