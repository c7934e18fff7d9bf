// The geometry of the convolution family: conv2d and conv3d, and the data gradient and filter gradient of each. The
// three operators are gradients of one another. The code is the same for any number of axes:
//
//   y[n,oh,ow,o] = sum over kh, kw, i of x[n, oh * stride + kh * dilation - pad, ..., group(o) * I + i] * w[o,kh,kw,i]
//
// Filters are OHWI (KRSC). So channels are innermost in filters as in images, and both operands of the product are read
// in rows. Weight files hold OIHW; the parameter's layout expresses the difference (ir/type.h). Volumes have the depth
// before the height: NDHWC and ODHWI.
#pragma once
#include <functional>

#include "ir/ops/window.h"

namespace heddle::ir {

struct Conv {
  std::vector<Window> axes;  // the spatial axes: height and width, or depth, height and width
  int64_t batch = 0, groups = 1;
  int64_t in_per_group = 0, out_per_group = 0;
  Dims image = {}, filter = {}, result = {};  // NHWC, OHWI, NHWC

  int rank() const { return static_cast<int>(axes.size()); }
  Dims taps() const { return sizes_of(axes); }
};

std::vector<Key> conv_attributes(size_t axes);
const Decoding& conv2d_decoding();  // for causal convolutions along the tokens of a text
// Checks an image and a filter against each other and the attributes; throws InferError.
Conv conv(const Signature& s, size_t axes, const Type& image, const Type& filter);
// Throws InferError unless dy has the shape and dtype of the convolution's result.
void require_result(const Conv& c, const Type& dy, DType dtype);
// "conv2d"; its gradients have the suffixes "_data_grad" and "_filter_grad".
std::string conv_name(size_t axes);

// A case of the generated tests: strided, padded on one side, dilated, grouped, depthwise, size 1.
struct ConvCase {
  Dims image, filter, result;
  Attrs attrs;
};
// The samples of an operator of the family. `sample` makes one from each case.
std::vector<Sample> conv_samples(size_t axes, const std::function<Sample(const ConvCase&)>& sample);

// Calls f(image element, filter element, result element) for every product of the convolution.
template <class F>
void for_each_product(const Conv& c, F&& f) {
  const int64_t in = c.image.back(), out = c.result.back();
  const Dims taps = c.taps();
  const int64_t count = product(taps);
  const auto channels = [&](int64_t pixel, int64_t tap, int64_t result) {
    for (int64_t o = 0; o < out; ++o)
      for (int64_t i = 0; i < c.in_per_group; ++i)
        f(static_cast<size_t>(pixel * in + o / c.out_per_group * c.in_per_group + i),
          static_cast<size_t>((o * count + tap) * c.in_per_group + i), static_cast<size_t>(result * out + o));
  };
  int64_t result = 0;
  for_each_point(Dims(c.result.begin(), c.result.end() - 1), [&](const Dims& at) {
    int64_t tap = 0;
    for_each_point(taps, [&](const Dims& element) {
      if (const int64_t pixel = pixel_of(c.axes, at, element); pixel >= 0) channels(pixel, tap, result);
      ++tap;
    });
    ++result;
  });
}

}  // namespace heddle::ir
