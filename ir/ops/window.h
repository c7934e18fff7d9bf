// The geometry of 2-d windows over NHWC images, shared by pooling and convolution.
//
//   output position o, window position k  ->  input position o * stride + k * dilation - pad, inside [0, size) or in
//   the padding
#pragma once
#include <string>

#include "ir/op_def.h"

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

// Reads the input where window element `tap` (a coordinate) of output position `out` (a coordinate) lies.
void read_input(IndexMap& map, const Window& w, int out, int tap);

// --- pooling
// -----------------------------------------------------------------------------------------------------------------

struct Pool {
  Window height, width;
  int64_t taps() const { return height.size * width.size; }
};
std::vector<AttrDef> pool_attributes(
    bool with_input);                              // `input`: the image's shape, where only its gradient is at hand
Pool pool(const Signature& s, const Dims& image);  // throws InferError
Dims pooled(const Pool& p, const Dims& image);

// Result [n,oh,ow,c] over the window's elements of the image; `extra` operands are read at the result's element.
ReductionDomain pool_domain(const Pool& p, const Dims& image, int extra);
// Result [n,h,w,c] over the windows that read an element: `operands` maps, all of [n,oh,ow,c]; k is the position in
// that window.
ReductionDomain pool_gradient_domain(const Pool& p, const Dims& image, int operands);

// Overlapping, disjoint, with gaps, padded on each side alone, size 1. Shapes are images; grad samples derive theirs
// from them.
std::vector<Sample> pool_samples();
// The same for a gradient operator: shapes are [n,oh,ow,c] for each operand, `input` the image.
std::vector<Sample> pool_gradient_samples(int operands);

}  // namespace heddle::ir
