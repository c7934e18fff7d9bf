#include <fmt/format.h>

#include "ir/evaluate/sums.h"
#include "ir/ops/reduce.h"
#include "ir/ops/window.h"

namespace heddle::ir {
namespace {

// Throws InferError unless operand 1 holds a position in the window for each pooled element.
void require_index(const Signature& s, const Dims& pooled) {
  const Type index{DType::i32, pooled};
  if (s.operands[1] != index)
    throw InferError(fmt::format("index is {}, expected {}", to_string(s.operands[1]), to_string(index)));
}

// --- max_pool2d ---

std::vector<Type> infer_max_pool(const Signature& s) {
  const Dims dims = pooled_operand(s);
  return {{s.operands[0].dtype, dims}, {DType::i32, dims}};
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
      if (i < 0 || (best >= 0 && !comes_first(x, i, best, /*largest=*/true))) return;
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
     .attrs = pool_attributes(),
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kArgMax,
                       "x",
                       {"acc.value", "acc.index"},
                       [](const Signature& s) { return pool_domain(s, 0); }},
     .traits = {.largest_and_where = true},
     .infer = infer_max_pool,
     .eval = eval_max_pool,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Dims image = b.type(n.operands[0]).dims;
       return {b("max_pool2d_grad", {dy[0], n.results[1]}, with_shape(n.attrs, "input", image))};
     },
     .samples = pool_samples()});

// --- max_pool2d_grad ---

std::vector<Type> infer_max_pool_grad(const Signature& s) {
  const Dims image = pool_gradient_image(s);
  require_index(s, s.operands[0].dims);
  return {{s.operands[0].dtype, image}};
}

std::vector<Tensor> eval_max_pool_grad(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& dy = *in[0];
  Tensor dx(s.results[0]);
  const Pool p = pool(s, dx.type.dims);
  Sums sums(dx.real.size());
  size_t o = 0;
  for_each_point(dy.type.dims, [&](const Dims& at) {
    for_each_tap(p, dx.type.dims, at, [&](int64_t tap, int64_t i) {
      if (i >= 0 && in[1]->integer[o] == tap) sums.add(static_cast<size_t>(i), dy.real[o]);
    });
    ++o;
  });
  dx.real = sums.totals();
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
     .attrs = pool_gradient_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "index == k ? dy : T(0)",
                       {"acc"},
                       [](const Signature& s) { return pool_gradient_domain(s, 2); }},
     .infer = infer_max_pool_grad,
     .eval = eval_max_pool_grad,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       return {b("max_pool2d_pick", {dy[0], n.operands[1]}, without_shape(n.attrs, "input")), {}};
     },
     .samples = grad_samples()});

// --- max_pool2d_pick ---

std::vector<Type> infer_pick(const Signature& s) {
  const Dims dims = pooled_operand(s);
  require_index(s, dims);
  return {{s.operands[0].dtype, dims}};
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
     .attrs = pool_attributes(),
     .dtypes = kFloating,
     .kind = Reduction{monoids::kSum,
                       "index == k ? x : T(0)",
                       {"acc"},
                       [](const Signature& s) { return pool_domain(s, 1); }},
     .infer = infer_pick,
     .eval = eval_pick,
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Dims image = b.type(n.operands[0]).dims;
       return {b("max_pool2d_grad", {dy[0], n.operands[1]}, with_shape(n.attrs, "input", image)), {}};
     },
     .samples = pick_samples()});

}  // namespace
}  // namespace heddle::ir
