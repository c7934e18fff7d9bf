#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/loops.h"
#include "ir/ops/window.h"

namespace heddle::ir {
namespace {

// Calls f(image element) for the elements of the image that the window at `at` = [n,oh,ow,c] covers.
template <class F>
void for_each_covered(const Pool& p, const Dims& image, const Dims& at, F&& f) {
  for (int64_t i = 0; i < p.height.size; ++i)
    for (int64_t j = 0; j < p.width.size; ++j) {
      const int64_t h = at[1] * p.height.stride + i - p.height.low;
      const int64_t w = at[2] * p.width.stride + j - p.width.low;
      if (h >= 0 && h < image[1] && w >= 0 && w < image[2])
        f(static_cast<size_t>(position(image, {at[0], h, w, at[3]})));
    }
}

std::vector<Type> infer_avg_pool(const Signature& s) {
  const Type& x = s.operands[0];
  require_image(x, "input");
  return {{x.dtype, pooled(pool(s, x.dims), x.dims)}};
}

std::vector<Tensor> eval_avg_pool(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const Pool p = pool(s, x.type.dims);
  Tensor y(s.results[0]);
  size_t o = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    int64_t covered = 0;
    for_each_covered(p, x.type.dims, at, [&](size_t i) {
      y.real[o] += x.real[i];
      ++covered;
    });
    y.real[o++] /= static_cast<double>(s.flag("count_include_pad") ? p.taps() : covered);
  });
  return {y};
}

// Without padding in the count, each dy is first divided by the share of its window that lies in the image, which is
// what the padded average of ones gives.
Grads avg_pool_gradient(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  Attrs attrs = s.attrs;
  attrs.erase("count_include_pad");
  ValueId scaled = dy[0];
  if (!s.flag("count_include_pad")) scaled = b("div", {scaled, b("avg_pool2d", {b.constant(1, s.operands[0])}, attrs)});
  attrs["input"] = s.operands[0].dims;
  return {b("avg_pool2d_grad", {scaled}, attrs)};
}

std::vector<AttrDef> avg_pool_attributes() {
  std::vector<AttrDef> attrs = pool_attributes(false);
  attrs.push_back(
      {.name = "count_include_pad", .type = AttrType::flag, .fallback = true, .doc = "divide by the whole window"});
  return attrs;
}

std::vector<Sample> avg_pool_samples() {
  std::vector<Sample> samples = pool_samples();
  std::vector<Sample> excluding = samples;
  for (Sample& sample : excluding) {
    sample.attrs["count_include_pad"] = false;
    samples.push_back(sample);
  }
  return samples;
}

const RegisterOp avg_pool2d(
    {.name = "avg_pool2d",
     .doc = "y[n,h,w,c] = the sum of x in the window at (h,w) / the elements of the window, padding included or not",
     .operands = {"x"},
     .attrs = avg_pool_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{"Sum",
                       "x",
                       {"acc / T(count_include_pad ? count : valid)"},
                       [](const Signature& s) {
                         return pool_domain(pool(s, s.operands[0].dims), s.operands[0].dims, 0);
                       }},
     .infer = infer_avg_pool,
     .eval = eval_avg_pool,
     .grad = avg_pool_gradient,
     .samples = avg_pool_samples()});

std::vector<Type> infer_avg_pool_grad(const Signature& s) {
  const Type& dy = s.operands[0];
  const Dims& image = checked_list(s, "input", 4, 1);
  const Dims expected = pooled(pool(s, image), image);
  if (dy.dims != expected)
    throw InferError(
        fmt::format("dy is {}, pooling {} gives {}", to_string(dy), to_string(image), to_string(expected)));
  return {{dy.dtype, image}};
}

std::vector<Tensor> eval_avg_pool_grad(const Signature& s, std::span<const Tensor* const> in) {
  Tensor dx(s.results[0]);
  const Pool p = pool(s, dx.type.dims);
  size_t o = 0;
  for_each_point(in[0]->type.dims, [&](const Dims& at) {
    const double share = in[0]->real[o++] / static_cast<double>(p.taps());
    for_each_covered(p, dx.type.dims, at, [&](size_t i) { dx.real[i] += share; });
  });
  return {dx};
}

const RegisterOp avg_pool2d_grad({.name = "avg_pool2d_grad",
                                  .doc = "gradient of avg_pool2d with count_include_pad: each dy / window elements is "
                                         "added to the elements its window covers",
                                  .operands = {"dy"},
                                  .results = {"dx"},
                                  .attrs = pool_attributes(true),
                                  .dtypes = kFloating,
                                  .kind = Reduction{"Sum",
                                                    "dy",
                                                    {"acc / T(count)"},
                                                    [](const Signature& s) {
                                                      const Dims& image = s.integers("input");
                                                      return pool_gradient_domain(pool(s, image), image, 1);
                                                    }},
                                  .infer = infer_avg_pool_grad,
                                  .eval = eval_avg_pool_grad,
                                  .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                                    Attrs attrs = n.attrs;
                                    attrs.erase("input");
                                    return {b("avg_pool2d", {dy[0]}, attrs)};
                                  },
                                  .samples = pool_gradient_samples(1)});

}  // namespace
}  // namespace heddle::ir
