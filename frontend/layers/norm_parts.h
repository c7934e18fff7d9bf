// Parts of normalization layers: the setting eps, the learned scale and bias, and the formula.
//
//   {"op": "group_norm", "groups": 4, "bias": false} over 32 channels  ->  %g.weight: f32[32], and zeros
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// The keys eps, scale and bias. `affine` is the default of the last two: whether they are learned.
std::vector<Key> norm_settings(bool affine);

struct Affine {
  ir::ValueId scale, bias;  // f32[size]
};
// Adds the parameters weight and bias, if the settings ask for them; otherwise uses ones and zeros.
Affine make_affine(LayerContext& c, int64_t size);

struct Normalized {
  ir::ValueId y, mean, variance;
};
// (x - mean) / sqrt(variance + eps) * scale + bias, with the mean and the biased variance over `axes`.
Normalized normalize(LayerContext& c, ir::ValueId x, const Affine& affine, const ir::Dims& axes, double eps);

}  // namespace heddle::frontend
