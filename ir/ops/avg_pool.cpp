#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/window.h"

namespace heddle::ir {
namespace {

std::string name_of(size_t axes) { return fmt::format("avg_pool{}d", axes); }

// Calls f(image element) for the elements of the image that the window at `at` = [n,oh,ow,c] covers.
template <class F>
void for_each_covered(const Pool& p, const Dims& image, const Dims& at, F&& f) {
  for_each_tap(p, image, at, [&](int64_t, int64_t element) {
    if (element >= 0) f(static_cast<size_t>(element));
  });
}

std::vector<Tensor> eval_avg_pool(const Signature& s, size_t axes, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const Pool p = pool(s, axes, x.type.dims);
  Tensor y(s.results[0]);
  size_t o = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    int64_t covered = 0;
    Sum sum;
    for_each_covered(p, x.type.dims, at, [&](size_t i) {
      sum.add(x.real[i]);
      ++covered;
    });
    y.real[o++] = sum.total() / static_cast<double>(s.flag("count_include_pad") ? p.taps() : covered);
  });
  return {y};
}

// Without padding in the count, each dy is first divided by the share of its window that lies in the image, which is
// what the padded average of ones gives.
Grads avg_pool_gradient(Builder& b, const Node& n, const Values& dy, size_t axes) {
  const Signature s = signature(b.graph, n);
  Attrs attrs = s.attrs;
  attrs.erase("count_include_pad");
  ValueId scaled = dy[0];
  if (!s.flag("count_include_pad"))
    scaled = b("div", {scaled, b(name_of(axes), {b.constant(1, s.operands[0])}, attrs)});
  return {b(name_of(axes) + "_grad", {scaled}, with_shape(attrs, "input", s.operands[0].dims))};
}

std::vector<Key> avg_pool_attributes(size_t axes) {
  std::vector<Key> attrs = pool_attributes(axes);
  attrs.push_back(
      {.name = "count_include_pad", .type = KeyType::flag, .doc = "divide by the whole window", .fallback = true});
  return attrs;
}

std::vector<Sample> avg_pool_samples(size_t axes) {
  std::vector<Sample> samples = pool_samples(axes);
  std::vector<Sample> excluding = samples;
  for (Sample& sample : excluding) {
    sample.attrs["count_include_pad"] = false;
    samples.push_back(sample);
  }
  return samples;
}

OpDef avg_pool(size_t axes) {
  return {.name = name_of(axes),
          .doc = fmt::format("y[n,{0},c] = the sum of x in the window at ({0}) / the elements of the window, padding "
                             "included or not",
                             axes == 2 ? "h,w" : "d,h,w"),
          .operands = {"x"},
          .attrs = avg_pool_attributes(axes),
          .dtypes = kFloating,
          .kind = Reduction{monoids::kSum,
                            "x",
                            {"acc / T(count_include_pad ? count : valid)"},
                            [axes](const Signature& s) { return pool_domain(s, axes, 0); }},
          .infer = [axes](const Signature& s) -> std::vector<Type> {
            return {{s.operands[0].dtype, pooled_operand(s, axes)}};
          },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval_avg_pool(s, axes, in); },
          .grad = [axes](Builder& b, const Node& n, const Values& dy) { return avg_pool_gradient(b, n, dy, axes); },
          .samples = avg_pool_samples(axes)};
}

const RegisterOp avg_pool2d(avg_pool(2));
const RegisterOp avg_pool3d(avg_pool(3));

std::vector<Tensor> eval_avg_pool_grad(const Signature& s, size_t axes, std::span<const Tensor* const> in) {
  Tensor dx(s.results[0]);
  const Pool p = pool(s, axes, dx.type.dims);
  Sums sums(dx.real.size());
  size_t o = 0;
  for_each_point(in[0]->type.dims, [&](const Dims& at) {
    const double share = in[0]->real[o++] / static_cast<double>(p.taps());
    for_each_covered(p, dx.type.dims, at, [&](size_t i) { sums.add(i, share); });
  });
  dx.real = sums.totals();
  return {dx};
}

OpDef avg_pool_grad(size_t axes) {
  return {
      .name = name_of(axes) + "_grad",
      .doc = "gradient of " + name_of(axes) +
             " with count_include_pad: each dy / window elements is added to the elements its window covers",
      .operands = {"dy"},
      .results = {"dx"},
      .attrs = pool_gradient_attributes(axes),
      .dtypes = kFloating,
      .kind = Reduction{monoids::kSum,
                        "dy",
                        {"acc / T(count)"},
                        [axes](const Signature& s) { return pool_gradient_domain(s, axes, 1); }},
      .infer = [axes](const Signature& s) -> std::vector<Type> {
        return {{s.operands[0].dtype, pool_gradient_image(s, axes)}};
      },
      .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval_avg_pool_grad(s, axes, in); },
      .grad = [axes](Builder& b, const Node& n, const Values& dy) -> Grads {
        return {b(name_of(axes), {dy[0]}, without_shape(n.attrs, "input"))};
      },
      .samples = pool_gradient_samples(axes, 1)};
}

const RegisterOp avg_pool2d_grad(avg_pool_grad(2));
const RegisterOp avg_pool3d_grad(avg_pool_grad(3));

const StatesMixedPrecision few_terms({"avg_pool2d", "avg_pool3d"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
