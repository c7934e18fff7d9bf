// Windows over sequences, images and volumes: converts kernel sizes, strides and padding of a model to attributes of
// the IR.
//
//   {"kernel": 3, "pad": "same"} over 28x28  ->  size {3,3}, strides {1,1}, pads {1,1,1,1}
#pragma once
#include "frontend/layer_context.h"

namespace heddle::frontend {

struct Window {
  ir::Dims size, strides, dilations;  // [length], [height, width] or [depth, height, width]
  ir::Dims pads;                      // before all sides, then after all: [top, left, bottom, right] for an image
};

// Reads the settings `size` ("kernel" or "window"), "stride" (default 1; the window's size with `stride_is_window`),
// "pad" and, with `dilated`, "dilation". Checks them against `image`, the sides of input 0.
Window read_window(LayerContext& c, const std::string& size, bool stride_is_window, bool dilated,
                   const ir::Dims& image);

// A window over [length] as a window over an image with height 1.
Window over_row(const Window& w);

// Check that input 0 is floating and has so many sides: a sequence has one, an image two, a volume three.
void require_sides(LayerContext& c, size_t sides);
void require_image(LayerContext& c);
ir::Dims image_size(const LayerContext& c);  // the sides of input 0, in NHWC or NCHW
int64_t channels(const LayerContext& c);     // the channels of input 0

// The sides in words: "length"; "height, width"; "depth, height, width".
std::string sides_text(size_t sides);
std::string side_name(size_t side, size_t sides);
// The description of a setting with a value per side: "one number", "one number or [h, w]", "one number or [d, h, w]".
std::string sides_doc(size_t sides);
// Reads a setting with one number for all sides, or one for each side.
ir::Dims read_sides(LayerContext& c, const std::string& setting, size_t sides);

std::vector<Key> window_settings(const std::string& size, size_t sides);

}  // namespace heddle::frontend
