// What the normalising layers share: eps, and the scale and bias that are learnt.
//
//   {"op": "group_norm", "groups": 4, "bias": false} over 32 channels  ->  %g.weight: f32[32], and zeros
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

// eps, scale and bias; `affine`: whether the two are learnt unless the model says otherwise.
std::vector<Key> norm_settings(bool affine);

struct Affine {
  ir::ValueId scale, bias;  // f32[size]
};
// The parameters weight and bias as far as wanted, ones and zeros where not.
Affine make_affine(LayerContext& c, int64_t size);

struct Normalized {
  ir::ValueId y, mean, variance;
};
// (x - mean) / sqrt(variance + eps) * scale + bias, with the mean and the biased variance over `axes`.
Normalized normalize(LayerContext& c, ir::ValueId x, const Affine& affine, const ir::Dims& axes, double eps);

}  // namespace heddle::frontend
