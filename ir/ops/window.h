// The geometry of windows over images [N,height,width,channels] and volumes [N,depth,height,width,channels], shared by
// pooling and convolution. What is said of images here holds for volumes, with one axis more.
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
// Throws InferError unless `type` has this many axes between the first and the last one; `what` names it in the message.
void require_image(const Type& type, size_t axes, const std::string& what);
// Fills in `output`; throws InferError when the window does not fit. `side` is "height" or "width".
Window placed(Window window, const std::string& what, const std::string& side);
// "depth", "height", "width": the axis before the channels is the width.
std::string side_name(size_t side, size_t axes);
Dims sizes_of(const std::vector<Window>& axes);
// Throws InferError unless each window reaches into the image, and none of its elements is further from the next than
// the image is long.
void check_reach(const Window& w, const Dims& pads, const Dims& window);

// Reads the input where window element `tap` (a coordinate) of output position `out` (a coordinate) lies.
void read_input(IndexMap& map, const Window& w, int out, int tap);

// The row-major number of the pixel, of all images, at which `element` of the window at `at` = [n, one for each axis, ...]
// lies; -1 in the padding.
inline int64_t pixel_of(const std::vector<Window>& axes, const Dims& at, const Dims& element) {
  int64_t pixel = at[0];
  for (size_t d = 0; d < axes.size(); ++d) {
    const Window& w = axes[d];
    const int64_t place = at[d + 1] * w.stride + element[d] * w.dilation - w.low;
    if (place < 0 || place >= w.input) return -1;
    pixel = pixel * w.input + place;
  }
  return pixel;
}

// A gradient operator lacks an operand of its forward operator; the operand's shape is an attribute instead.
std::vector<Key> with_shape(std::vector<Key> attrs, const std::string& name, const std::string& doc);
Attrs with_shape(Attrs attrs, const std::string& name, const Dims& shape);
Attrs without_shape(Attrs attrs, const std::string& name);

// --- Pooling

struct Pool {
  std::vector<Window> axes;
  int64_t taps() const { return product(sizes_of(axes)); }
};
std::vector<Key> pool_attributes(size_t axes);
std::vector<Key> pool_gradient_attributes(size_t axes);         // and `input`, the shape of the image
Pool pool(const Signature& s, size_t axes, const Dims& image);  // throws InferError
// What pooling operand 0 gives; throws InferError unless it is an image that the windows fit.
Dims pooled_operand(const Signature& s, size_t axes);
// The shape of the image; throws InferError unless operand 0, dy, has the shape that pooling it gives.
Dims pool_gradient_image(const Signature& s, size_t axes);

// Result [n,oh,ow,c] over the window's elements of operand 0; `extra` operands are read at the result's element.
ReductionDomain pool_domain(const Signature& s, size_t axes, int extra);
// Result [n,h,w,c] over the windows that read an element: `operands` maps, all of [n,oh,ow,c]; k is the position in
// that window.
ReductionDomain pool_gradient_domain(const Signature& s, size_t axes, int operands);

// Calls f(window element, image element or -1 in the padding) for the window at `at` = [n,oh,ow,c].
template <class F>
void for_each_tap(const Pool& p, const Dims& image, const Dims& at, F&& f) {
  int64_t tap = 0;
  for_each_point(sizes_of(p.axes), [&](const Dims& element) {
    const int64_t pixel = pixel_of(p.axes, at, element);
    f(tap++, pixel < 0 ? -1 : pixel * image.back() + at.back());
  });
}

// Overlapping, disjoint, with gaps, padded on each side alone, size 1, dilated. Shapes are images;
// grad samples derive theirs from them.
std::vector<Sample> pool_samples(size_t axes);
// The same for a gradient operator: shapes are [n,oh,ow,c] for each operand, `input` the image.
std::vector<Sample> pool_gradient_samples(size_t axes, int operands);

}  // namespace heddle::ir
