// The geometry of the convolution family: conv2d, its data gradient and its filter gradient, each
// other's gradients.
//
//   y[n,oh,ow,o] = sum over kh, kw, i of x[n, oh * stride + kh * dilation - pad, ..., group(o) * I + i] * w[o,kh,kw,i]
//
// Filters are OHWI (KRSC): as in images, channels lie next to each other, so that both operands of
// the product are read in rows. Files of weights hold OIHW; the parameter's layout says so
// (ir/type.h).
#pragma once
#include <functional>

#include "ir/ops/window.h"

namespace heddle::ir {

struct Conv {
  Window height, width;
  int64_t batch = 0, groups = 1;
  int64_t in_per_group = 0, out_per_group = 0;
  Dims image = {}, filter = {}, result = {};  // NHWC, OHWI, NHWC
};

std::vector<Key> conv_attributes();
const Decoding& conv2d_decoding();  // of a causal one along the tokens of a text
// Checks an image and a filter against each other and the attributes; throws InferError.
Conv conv(const Signature& s, const Type& image, const Type& filter);
// Throws InferError unless dy has the shape and dtype of the convolution's result.
void require_result(const Conv& c, const Type& dy, DType dtype);

// Strided, padded on each side alone, dilated, grouped, depthwise, size 1.
struct ConvCase {
  Dims image, filter, result;
  Attrs attrs;
};
// What an operator of the family makes of each case.
std::vector<Sample> conv_samples(const std::function<Sample(const ConvCase&)>& sample);

// Calls f(image element, filter element, result element) for every product of the convolution.
template <class F>
void for_each_product(const Conv& c, F&& f) {
  const int64_t taps = c.height.size * c.width.size;
  const auto channels = [&](int64_t pixel, int64_t tap, int64_t result) {
    for (int64_t o = 0; o < c.filter[0]; ++o)
      for (int64_t i = 0; i < c.in_per_group; ++i)
        f(static_cast<size_t>(pixel * c.image[3] + o / c.out_per_group * c.in_per_group + i),
          static_cast<size_t>((o * taps + tap) * c.in_per_group + i), static_cast<size_t>(result * c.filter[0] + o));
  };
  const auto window = [&](int64_t n, int64_t oh, int64_t ow) {
    for (int64_t kh = 0; kh < c.height.size; ++kh)
      for (int64_t kw = 0; kw < c.width.size; ++kw) {
        const int64_t h = oh * c.height.stride + kh * c.height.dilation - c.height.low;
        const int64_t w = ow * c.width.stride + kw * c.width.dilation - c.width.low;
        if (h < 0 || h >= c.height.input || w < 0 || w >= c.width.input) continue;
        channels((n * c.height.input + h) * c.width.input + w, kh * c.width.size + kw,
                 (n * c.height.output + oh) * c.width.output + ow);
      }
  };
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t oh = 0; oh < c.height.output; ++oh)
      for (int64_t ow = 0; ow < c.width.output; ++ow) window(n, oh, ow);
}

}  // namespace heddle::ir
