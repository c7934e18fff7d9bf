// Weights that are made of other parameters: a layer's weight in the place where it would have been a parameter. Names,
// shapes and formulas are those of torch.nn.utils.parametrizations, so that its files load.
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

// A weight as it lies in memory, and the parameter that initializers and the layer's own rules speak of.
struct MadeWeight {
  ir::ValueId value, original;
};

// The weight `name` of the layer, where one of its settings says what it is made of; else nothing. `dims` is its logical
// shape. Throws UserError where both settings are given, or a setting is faulty.
std::optional<MadeWeight> made_weight(LayerContext& c, const std::string& name, const ir::Dims& dims,
                                      const ir::Layout& layout, const Initializer& init);

// The setting that is given and not false, "weight_norm" or "spectral_norm"; nullptr where the weight is a parameter.
const Json* made_weight_setting(const Settings& settings);

// The settings weight_norm and spectral_norm. A spectral norm is that of a matrix whose rows are the weight's axis
// `rows`: 0, and of transposed convolutions 1, where their filters stand.
std::vector<Key> made_weight_settings(int64_t rows);

}  // namespace heddle::frontend
