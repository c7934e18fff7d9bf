#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/ops/loops.h"
#include "ir/ops/window.h"

namespace heddle::ir {
namespace {

Attrs window_attrs(const Attrs& attrs) {
  Attrs kept = attrs;
  kept.erase("input");
  return kept;
}

Attrs with_input(Attrs attrs, const Dims& image) {
  attrs["input"] = image;
  return attrs;
}

// Calls f(window element, image element or -1 in the padding) for the window at `at` = [n,oh,ow,c].
template <class F>
void for_each_tap(const Pool& p, const Dims& image, const Dims& at, F&& f) {
  for (int64_t i = 0; i < p.height.size; ++i)
    for (int64_t j = 0; j < p.width.size; ++j) {
      const int64_t h = at[1] * p.height.stride + i - p.height.low;
      const int64_t w = at[2] * p.width.stride + j - p.width.low;
      const bool inside = h >= 0 && h < image[1] && w >= 0 && w < image[2];
      f(i * p.width.size + j, inside ? position(image, {at[0], h, w, at[3]}) : -1);
    }
}

// --- max_pool2d ---

std::vector<Type> infer_max_pool(const Signature& s) {
  const Type& x = s.operands[0];
  require_image(x, "input");
  const Dims dims = pooled(pool(s, x.dims), x.dims);
  return {{x.dtype, dims}, {DType::i32, dims}};
}

std::vector<Tensor> eval_max_pool(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const Pool p = pool(s, x.type.dims);
  Tensor y(s.results[0]);
  Tensor index(s.results[1]);
  int64_t o = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    int64_t best = -1;
    for_each_tap(p, x.type.dims, at, [&](int64_t tap, int64_t i) {
      if (i < 0 || (best >= 0 && !(x.at(i) > x.at(best)) && x.at(i) == x.at(i))) return;
      if (best >= 0 && x.at(best) != x.at(best)) return;
      best = i;
      index.integer[static_cast<size_t>(o)] = tap;
    });
    y.copy(o++, x, best);
  });
  return {y, index};
}

const RegisterOp max_pool2d(
    {.name = "max_pool2d",
     .doc =
         "y[n,h,w,c] = the largest x in the window at (h,w), index its row-major position in the window: the first of "
         "equals, which gets the gradient. Padding is never chosen",
     .operands = {"x"},
     .results = {"y", "index"},
     .attrs = pool_attributes(false),
     .dtypes = kArithmetic,
     .kind = Reduction{"ArgMax",
                       "x",
                       {"acc.value", "acc.index"},
                       [](const Signature& s) {
                         return pool_domain(pool(s, s.operands[0].dims), s.operands[0].dims, 0);
                       }},
     .infer = infer_max_pool,
     .eval = eval_max_pool,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Dims image = b.type(n.operands[0]).dims;
       return {b("max_pool2d_grad", {dy[0], n.results[1]}, with_input(n.attrs, image))};
     },
     .samples = pool_samples()});

// --- max_pool2d_grad ---

std::vector<Type> infer_max_pool_grad(const Signature& s) {
  const Type& dy = s.operands[0];
  const Dims& image = checked_list(s, "input", 4, 1);
  const Dims expected = pooled(pool(s, image), image);
  if (dy.dims != expected)
    throw InferError(
        fmt::format("dy is {}, pooling {} gives {}", to_string(dy), to_string(image), to_string(expected)));
  if (s.operands[1] != Type{DType::i32, expected})
    throw InferError(
        fmt::format("index is {}, expected {}", to_string(s.operands[1]), to_string(Type{DType::i32, expected})));
  return {{dy.dtype, image}};
}

std::vector<Tensor> eval_max_pool_grad(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& dy = *in[0];
  Tensor dx(s.results[0]);
  const Pool p = pool(s, dx.type.dims);
  size_t o = 0;
  for_each_point(dy.type.dims, [&](const Dims& at) {
    for_each_tap(p, dx.type.dims, at, [&](int64_t tap, int64_t i) {
      if (i >= 0 && in[1]->integer[o] == tap) dx.real[static_cast<size_t>(i)] += dy.real[o];
    });
    ++o;
  });
  return {dx};
}

std::vector<Sample> grad_samples() {
  std::vector<Sample> samples = pool_gradient_samples(2);
  for (Sample& sample : samples) sample.dtypes = {DType::f32, DType::i32};
  return samples;
}

const RegisterOp max_pool2d_grad(
    {.name = "max_pool2d_grad",
     .doc = "gradient of max_pool2d: each dy is added to the element of the image its window chose",
     .operands = {"dy", "index"},
     .results = {"dx"},
     .attrs = pool_attributes(true),
     .dtypes = kFloating,
     .kind = Reduction{"Sum",
                       "index == k ? dy : T(0)",
                       {"acc"},
                       [](const Signature& s) {
                         const Dims& image = s.integers("input");
                         return pool_gradient_domain(pool(s, image), image, 2);
                       }},
     .infer = infer_max_pool_grad,
     .eval = eval_max_pool_grad,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       return {b("max_pool2d_pick", {dy[0], n.operands[1]}, window_attrs(n.attrs)), {}};
     },
     .samples = grad_samples()});

// --- max_pool2d_pick ---

std::vector<Type> infer_pick(const Signature& s) {
  const Type& x = s.operands[0];
  require_image(x, "input");
  const Type index{DType::i32, pooled(pool(s, x.dims), x.dims)};
  if (s.operands[1] != index)
    throw InferError(fmt::format("index is {}, expected {}", to_string(s.operands[1]), to_string(index)));
  return {{x.dtype, index.dims}};
}

std::vector<Tensor> eval_pick(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  const Pool p = pool(s, in[0]->type.dims);
  size_t o = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    for_each_tap(p, in[0]->type.dims, at, [&](int64_t tap, int64_t i) {
      if (i >= 0 && in[1]->integer[o] == tap) y.real[o] = in[0]->real[static_cast<size_t>(i)];
    });
    ++o;
  });
  return {y};
}

std::vector<Sample> pick_samples() {
  std::vector<Sample> samples = grad_samples();
  for (Sample& sample : samples) {
    sample.shapes[0] = std::get<Dims>(sample.attrs.at("input"));
    sample.attrs.erase("input");
  }
  return samples;
}

const RegisterOp max_pool2d_pick(
    {.name = "max_pool2d_pick",
     .doc = "y[n,h,w,c] = the x at position index of the window at (h,w): the gradient of max_pool2d_grad",
     .operands = {"x", "index"},
     .attrs = pool_attributes(false),
     .dtypes = kFloating,
     .kind = Reduction{"Sum",
                       "index == k ? x : T(0)",
                       {"acc"},
                       [](const Signature& s) {
                         return pool_domain(pool(s, s.operands[0].dims), s.operands[0].dims, 1);
                       }},
     .infer = infer_pick,
     .eval = eval_pick,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Dims image = b.type(n.operands[0]).dims;
       return {b("max_pool2d_grad", {dy[0], n.operands[1]}, with_input(n.attrs, image)), {}};
     },
     .samples = pick_samples()});

}  // namespace
}  // namespace heddle::ir
