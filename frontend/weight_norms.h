// Weight normalization and spectral normalization: a layer's weight is computed from other parameters. Names, shapes
// and formulas are those of torch.nn.utils.parametrizations, so that its files load.
//
//   {"name": "fc", "op": "dense", "units": 3, "weight_norm": true} over [N,4]
//     ->  %fc.parametrizations.weight.original1: f32[3,4], called v, starts as the weight would
//         %fc.parametrizations.weight.original0: f32[3,1], called g, starts as the norms of v
//         %fc.weight.normed = v * (g / |v|), a norm for each index of the axis
//         (Salimans and Kingma 2016, arXiv 1602.07868)
//   {"name": "fc", "op": "dense", "units": 3, "spectral_norm": true} over [N,4]
//     ->  %fc.parametrizations.weight.original: f32[3,4], called W
//         buffers %fc.parametrizations.weight.0._u: f32[3] and 0._v: f32[4], which a training step renews by
//           u = W v / |W v|, v = W^T u / |W^T u|
//         %fc.weight.normed = W / (u . W v), where u and v count as constants
//         (Miyato et al. 2018, arXiv 1802.05957)
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/layer_context.h"

namespace heddle::frontend {

// A computed weight, in the axis order of memory, and the parameter to which the initializer and other rules apply.
struct MadeWeight {
  ir::ValueId value, original;
};

// The weight `name` of the layer, if one of the two settings is given; otherwise nullopt. `dims` is the logical shape.
// Throws UserError if both settings are given, or if a setting is faulty.
std::optional<MadeWeight> made_weight(LayerContext& c, const std::string& name, const ir::Dims& dims,
                                      const ir::Layout& layout, const Initializer& init);

// The setting "weight_norm" or "spectral_norm" if it is given and not false; nullptr if the weight is a parameter.
const Json* made_weight_setting(const Settings& settings);

// The settings weight_norm and spectral_norm. The spectral norm is that of a matrix whose rows are the weight's axis
// `rows`: 1 for the filters of transposed convolutions, otherwise 0.
std::vector<Key> made_weight_settings(int64_t rows);

}  // namespace heddle::frontend
