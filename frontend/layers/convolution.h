// Parts of convolution layers: filters with PyTorch's shapes over sequences, images or volumes with the channels last.
//
//   {"op": "conv1d", "filters": 8, "kernel": 3} over [N,L,4]
//     ->  %c.weight: f32[8,3,4] layout [0,2,1], which files hold as f32[8,4,3]; conv2d over images of height 1
#pragma once
#include "frontend/layers/window.h"

namespace heddle::frontend {

struct Convolution {
  int64_t filters = 0, groups = 1;
  Window window;
  std::string weight = "weight";  // the parameter's name
};

// Reads the setting "groups". Throws UserError if it does not divide the numbers of channels and filters.
int64_t read_groups(LayerContext& c, int64_t in, int64_t filters);

// The filter parameter in the form that operators take. `shape` is its shape in files: [filters, in / groups,
// sides...]. The filters of a sequence become those of an image with height 1.
ir::ValueId filters_of(LayerContext& c, const std::string& weight, const ir::Dims& shape);
// Reshape a sequence to an image with height 1, and back. Images and volumes stay unchanged.
ir::ValueId as_row(LayerContext& c, ir::ValueId x, size_t sides);
ir::ValueId from_row(LayerContext& c, ir::ValueId y, size_t sides);

// The convolution of x [N,length,channels], [N,h,w,channels] or [N,d,h,w,channels], without a bias. In the result, the
// last axis is the filters.
ir::ValueId convolve(LayerContext& c, ir::ValueId x, const Convolution& convolution, std::string_view suffix = "conv");
// Adds the parameter `bias` to y if the setting "bias" asks for it.
ir::ValueId add_bias(LayerContext& c, ir::ValueId y, const std::string& bias = "bias");

// The keys kernel, stride, pad and dilation.
std::vector<Key> kernel_settings(size_t sides);
// The keys bias, activation, initializers, weight_norm and spectral_norm. `filters` is the axis of the filters in the
// weight: 1 for a transposed convolution, otherwise 0.
std::vector<Key> filter_settings(int64_t filters);
// Concatenates the lists.
std::vector<Key> all_settings(std::initializer_list<std::vector<Key>> lists);

}  // namespace heddle::frontend
