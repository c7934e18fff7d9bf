// The geometry of windows over images [N,height,width,channels] and volumes [N,depth,height,width,channels], for
// pooling and convolution. Comments here speak of images; volumes have one axis more.
//
//   output position o, window position k
//     ->  input position o * stride + k * dilation - pad, inside [0, size) or in the padding
#pragma once
#include <string>

#include "ir/op_def.h"
#include "ir/ops/loops.h"

namespace heddle::ir {

// A window along one spatial axis.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1;
  int64_t low = 0, high = 0;  // padding before and after
  int64_t input = 0, output = 0;
};

// Throws InferError unless the attribute has `size` entries, each in [low, 2^31).
const Dims& checked_list(const Signature& s, std::string_view name, size_t size, int64_t low);
// Throws InferError unless `type` has `axes` axes between the first and the last one; messages call it `what`.
void require_image(const Type& type, size_t axes, const std::string& what);
// The window with `output` set; throws InferError if it does not fit. `side` is "height" or "width".
Window placed(Window window, const std::string& what, const std::string& side);
// "depth", "height", "width": the axis before the channels is the width.
std::string side_name(size_t side, size_t axes);
Dims sizes_of(const std::vector<Window>& axes);
// Throws InferError if a window may lie entirely in the padding: if the padding covers a whole window, or if there is
// padding and the dilation is larger than the image.
void check_reach(const Window& w, const Dims& pads, const Dims& window);

// Appends the input position of window element `tap` at output position `out` to the map, with a guard if it may be in
// the padding. `out` and `tap` are numbers of coordinates.
void read_input(IndexMap& map, const Window& w, int out, int tap);

// The row-major number, among the pixels of all images, of `element` of the window at `at` = [n, one for each axis,
// ...]; -1 in the padding.
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

// Gradient operators do not have all operands of the forward operator. The missing operand's shape is an attribute.
std::vector<Key> with_shape(std::vector<Key> attrs, const std::string& name, const std::string& doc);
Attrs with_shape(Attrs attrs, const std::string& name, const Dims& shape);
Attrs without_shape(Attrs attrs, const std::string& name);

// --- Pooling

struct Pool {
  std::vector<Window> axes;
  int64_t taps() const { return product(sizes_of(axes)); }
};
std::vector<Key> pool_attributes(size_t axes);
std::vector<Key> pool_gradient_attributes(size_t axes);         // also `input`, the shape of the image
Pool pool(const Signature& s, size_t axes, const Dims& image);  // throws InferError
// The shape of the pooled operand 0; throws InferError unless it is an image that the windows fit.
Dims pooled_operand(const Signature& s, size_t axes);
// The shape of the image; throws InferError unless operand 0, dy, has the shape of the pooled image.
Dims pool_gradient_image(const Signature& s, size_t axes);

// The domain of pooling: for each result [n,oh,ow,c] the elements of its window in operand 0. `extra` further operands
// are read at the result's element.
ReductionDomain pool_domain(const Signature& s, size_t axes, int extra);
// The domain of its gradient: for each result [n,h,w,c] the windows that contain the element. There are `operands` maps
// to [n,oh,ow,c]; k is the element's position in that window.
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

// Samples for pooling: windows that overlap, are disjoint, have gaps, are padded on one side, have size 1, are dilated.
// Shapes are images.
std::vector<Sample> pool_samples(size_t axes);
// The same for a gradient operator: the shapes are [n,oh,ow,c] for each operand; the attribute `input` is the image.
std::vector<Sample> pool_gradient_samples(size_t axes, int operands);

}  // namespace heddle::ir
