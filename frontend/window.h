// Windows over images: kernel sizes, strides and padding as a model writes them, in the IR's terms.
//
//   {"kernel": 3, "pad": "same"} over 28x28  ->  size {3,3}, strides {1,1}, pads {1,1,1,1}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

struct Window {
  ir::Dims size, strides, dilations;  // [height, width]
  ir::Dims pads;                      // [top, left, bottom, right]
};

// Reads the setting `size` ("kernel", "window"), "stride" (default 1, or the window where `stride_is_window`), "pad"
// and, where declared, "dilation"; checks them against the image [height, width] of input 0.
Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated,
                   const ir::Dims& image);

ir::Dims image_size(const LayerContext& c);  // [height, width] of input 0, of either layout
int64_t channels(const LayerContext& c);     // of input 0

}  // namespace heddle::frontend
