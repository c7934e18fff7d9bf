// What the convolving layers share: filters of PyTorch's shape over sequences, images or volumes whose channels
// lie last.
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

// Throws UserError where the setting "groups" does not divide channels and filters.
int64_t read_groups(LayerContext& c, int64_t in, int64_t filters);

// The filters as operators take them, of `shape` in files: [filters, in / groups, sides...]; of a sequence as those of
// images of height 1.
ir::ValueId filters_of(LayerContext& c, const std::string& weight, const ir::Dims& shape);
// A sequence as an image of height 1, and back; images and volumes as they are.
ir::ValueId as_row(LayerContext& c, ir::ValueId x, size_t sides);
ir::ValueId from_row(LayerContext& c, ir::ValueId y, size_t sides);

// x [N,length,channels], [N,h,w,channels] or [N,d,h,w,channels] with filters in the place of channels, without a bias.
ir::ValueId convolve(LayerContext& c, ir::ValueId x, const Convolution& convolution, std::string_view suffix = "conv");
// The same with the setting "bias", under the name `bias`.
ir::ValueId add_bias(LayerContext& c, ir::ValueId y, const std::string& bias = "bias");

// kernel, stride, pad and dilation.
std::vector<Key> kernel_settings(size_t sides);
// bias, activation, the initializers, and what the weight may be made of; `filters` is the axis of the weight where its
// filters stand: 0, of a transposed convolution 1.
std::vector<Key> filter_settings(int64_t filters);
// One list after another.
std::vector<Key> all_settings(std::initializer_list<std::vector<Key>> lists);

}  // namespace heddle::frontend
