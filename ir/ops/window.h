// The geometry of 2-d windows over NHWC images, shared by pooling and convolution.
//
//   output position o, window position k
//     ->  input position o * stride + k * dilation - pad, inside [0, size) or in the padding
#pragma once
#include <string>

#include "ir/op_def.h"
#include "ir/ops/loops.h"

namespace heddle::ir {

// Along one spatial axis.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t low = 0, high = 0;  // padding before and after
  int64_t input = 0, output = 0;
};

// Throws InferError unless the attribute has `size` entries, each in [low, 2^31).
const Dims& checked_list(const Signature& s, std::string_view name, size_t size, int64_t low);
// Throws InferError unless `type` has rank 4; `what` names it in the message.
void require_image(const Type& type, const std::string& what);
// Fills in `output`; throws InferError when the window does not fit. `side` is "height" or "width".
Window placed(Window window, const std::string& what, const std::string& side);
// Throws InferError unless each window reaches into the image, and none of its elements is further from the next than
// the image is long.
void check_reach(const Window& w, const Dims& pads, const Dims& window);

// Reads the input where window element `tap` (a coordinate) of output position `out` (a coordinate) lies.
void read_input(IndexMap& map, const Window& w, int out, int tap);

// A gradient operator lacks an operand of its forward operator; the operand's shape is an attribute instead.
std::vector<Key> with_shape(std::vector<Key> attrs, const std::string& name, const std::string& doc);
Attrs with_shape(Attrs attrs, const std::string& name, const Dims& shape);
Attrs without_shape(Attrs attrs, const std::string& name);

// --- Pooling

struct Pool {
  Window height, width;
  int64_t taps() const { return height.size * width.size; }
};
std::vector<Key> pool_attributes();
std::vector<Key> pool_gradient_attributes();       // and `input`, the shape of the image
Pool pool(const Signature& s, const Dims& image);  // throws InferError
// What pooling operand 0 gives; throws InferError unless it is an image that the windows fit.
Dims pooled_operand(const Signature& s);
// The shape of the image; throws InferError unless operand 0, dy, has the shape that pooling it gives.
Dims pool_gradient_image(const Signature& s);

// Result [n,oh,ow,c] over the window's elements of operand 0; `extra` operands are read at the result's element.
ReductionDomain pool_domain(const Signature& s, int extra);
// Result [n,h,w,c] over the windows that read an element: `operands` maps, all of [n,oh,ow,c]; k is the position in
// that window.
ReductionDomain pool_gradient_domain(const Signature& s, int operands);

// Calls f(window element, image element or -1 in the padding) for the window at `at` = [n,oh,ow,c].
template <class F>
void for_each_tap(const Pool& p, const Dims& image, const Dims& at, F&& f) {
  for (int64_t i = 0; i < p.height.size; ++i)
    for (int64_t j = 0; j < p.width.size; ++j) {
      const int64_t h = at[1] * p.height.stride + i * p.height.dilation - p.height.low;
      const int64_t w = at[2] * p.width.stride + j * p.width.dilation - p.width.low;
      const bool inside = h >= 0 && h < image[1] && w >= 0 && w < image[2];
      f(i * p.width.size + j, inside ? position(image, {at[0], h, w, at[3]}) : -1);
    }
}

// Overlapping, disjoint, with gaps, padded on each side alone, size 1, dilated. Shapes are images;
// grad samples derive theirs from them.
std::vector<Sample> pool_samples();
// The same for a gradient operator: shapes are [n,oh,ow,c] for each operand, `input` the image.
std::vector<Sample> pool_gradient_samples(int operands);

}  // namespace heddle::ir
