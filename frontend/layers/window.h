// Windows over images and sequences: kernel sizes, strides and padding as a model writes them, in the IR's terms.
//
//   {"kernel": 3, "pad": "same"} over 28x28  ->  size {3,3}, strides {1,1}, pads {1,1,1,1}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

struct Window {
  ir::Dims size, strides, dilations;  // [height, width], or [length]
  ir::Dims pads;                      // [top, left, bottom, right], or [before, after]
};

// Reads the setting `size` ("kernel", "window"), "stride" (default 1, or the window where `stride_is_window`), "pad"
// and, where declared, "dilation"; checks them against `image`: [height, width] or [length] of input 0.
Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated,
                   const ir::Dims& image);

// Windows over [length] as those over images of height 1.
Window over_row(const Window& w);

void require_image(LayerContext& c);         // of rank 4
void require_sequence(LayerContext& c);      // of rank 3
ir::Dims image_size(const LayerContext& c);  // [height, width] or [length] of input 0, of either layout
int64_t channels(const LayerContext& c);     // of input 0

std::vector<Key> window_settings(const std::string& size, bool sequence);

}  // namespace heddle::frontend
