// Windows over sequences, images and volumes: kernel sizes, strides and padding as a model writes them, in the IR's terms.
//
//   {"kernel": 3, "pad": "same"} over 28x28  ->  size {3,3}, strides {1,1}, pads {1,1,1,1}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

struct Window {
  ir::Dims size, strides, dilations;  // [length], [height, width] or [depth, height, width]
  ir::Dims pads;                      // before each side, then after each: [top, left, bottom, right] of an image
};

// Reads the setting `size` ("kernel", "window"), "stride" (default 1, or the window where `stride_is_window`), "pad"
// and, where declared, "dilation"; checks them against `image`: the sides of input 0.
Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated,
                   const ir::Dims& image);

// Windows over [length] as those over images of height 1.
Window over_row(const Window& w);

// Input 0 is floating and has so many sides: a sequence has one, an image two, a volume three.
void require_sides(LayerContext& c, size_t sides);
void require_image(LayerContext& c);
ir::Dims image_size(const LayerContext& c);  // the sides of input 0, of either layout
int64_t channels(const LayerContext& c);     // of input 0

// The sides in words: "length"; "height, width"; "depth, height, width".
std::string sides_text(size_t sides);
std::string side_name(size_t side, size_t sides);
// What a setting of each side takes: "one number", "one number or [h, w]", "one number or [d, h, w]".
std::string sides_doc(size_t sides);
// One number for all sides, or one for each.
ir::Dims read_sides(LayerContext& c, const std::string& setting, size_t sides);

std::vector<Key> window_settings(const std::string& size, size_t sides);

}  // namespace heddle::frontend
