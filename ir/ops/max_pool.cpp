#include <fmt/format.h>

#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
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

std::string name_of(size_t axes) { return fmt::format("max_pool{}d", axes); }

// --- max_pool2d, max_pool3d ---

std::vector<Type> infer_max_pool(const Signature& s, size_t axes) {
  const Dims dims = pooled_operand(s, axes);
  return {{s.operands[0].dtype, dims}, {DType::i32, dims}};
}

std::vector<Tensor> eval_max_pool(const Signature& s, size_t axes, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  const Pool p = pool(s, axes, x.type.dims);
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

OpDef max_pool(size_t axes) {
  return {.name = name_of(axes),
          .doc = fmt::format(
              "y[n,{0},c] = the largest x in the window at ({0}), index its row-major position in the window: the "
              "first of equals, which gets the gradient. Padding is never chosen",
              axes == 2 ? "h,w" : "d,h,w"),
          .operands = {"x"},
          .results = {"y", "index"},
          .attrs = pool_attributes(axes),
          .dtypes = kArithmetic,
          .kind = Reduction{monoids::kArgMax,
                            "x",
                            {"acc.value", "acc.index"},
                            [axes](const Signature& s) { return pool_domain(s, axes, 0); }},
          .traits = {.largest_and_where = true},
          .infer = [axes](const Signature& s) { return infer_max_pool(s, axes); },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval_max_pool(s, axes, in); },
          .grad = [axes](Builder& b, const Node& n, const Values& dy) -> Grads {
            const Dims image = b.type(n.operands[0]).dims;
            return {b(name_of(axes) + "_grad", {dy[0], n.results[1]}, with_shape(n.attrs, "input", image))};
          },
          .samples = pool_samples(axes)};
}

const RegisterOp max_pool2d(max_pool(2));
const RegisterOp max_pool3d(max_pool(3));

// --- max_pool2d_grad, max_pool3d_grad ---

std::vector<Type> infer_max_pool_grad(const Signature& s, size_t axes) {
  const Dims image = pool_gradient_image(s, axes);
  require_index(s, s.operands[0].dims);
  return {{s.operands[0].dtype, image}};
}

std::vector<Tensor> eval_max_pool_grad(const Signature& s, size_t axes, std::span<const Tensor* const> in) {
  const Tensor& dy = *in[0];
  Tensor dx(s.results[0]);
  const Pool p = pool(s, axes, dx.type.dims);
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

std::vector<Sample> grad_samples(size_t axes) {
  std::vector<Sample> samples = pool_gradient_samples(axes, 2);
  for (Sample& sample : samples) sample.dtypes = {DType::f32, DType::i32};
  return samples;
}

OpDef max_pool_grad(size_t axes) {
  return {
      .name = name_of(axes) + "_grad",
      .doc = "gradient of " + name_of(axes) + ": each dy is added to the element of the " +
             (axes == 2 ? "image" : "volume") + " its window chose",
      .operands = {"dy", "index"},
      .results = {"dx"},
      .attrs = pool_gradient_attributes(axes),
      .dtypes = kFloating,
      .kind = Reduction{monoids::kSum,
                        "index == k ? dy : T(0)",
                        {"acc"},
                        [axes](const Signature& s) { return pool_gradient_domain(s, axes, 2); }},
      .infer = [axes](const Signature& s) { return infer_max_pool_grad(s, axes); },
      .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval_max_pool_grad(s, axes, in); },
      .grad = [axes](Builder& b, const Node& n, const Values& dy) -> Grads {
        return {b(name_of(axes) + "_pick", {dy[0], n.operands[1]}, without_shape(n.attrs, "input")), {}};
      },
      .samples = grad_samples(axes)};
}

const RegisterOp max_pool2d_grad(max_pool_grad(2));
const RegisterOp max_pool3d_grad(max_pool_grad(3));

// --- max_pool2d_pick, max_pool3d_pick ---

std::vector<Type> infer_pick(const Signature& s, size_t axes) {
  const Dims dims = pooled_operand(s, axes);
  require_index(s, dims);
  return {{s.operands[0].dtype, dims}};
}

std::vector<Tensor> eval_pick(const Signature& s, size_t axes, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  const Pool p = pool(s, axes, in[0]->type.dims);
  size_t o = 0;
  for_each_point(y.type.dims, [&](const Dims& at) {
    for_each_tap(p, in[0]->type.dims, at, [&](int64_t tap, int64_t i) {
      if (i >= 0 && in[1]->integer[o] == tap) y.real[o] = in[0]->real[static_cast<size_t>(i)];
    });
    ++o;
  });
  return {y};
}

std::vector<Sample> pick_samples(size_t axes) {
  std::vector<Sample> samples = grad_samples(axes);
  for (Sample& sample : samples) {
    sample.shapes[0] = std::get<Dims>(sample.attrs.at("input"));
    sample.attrs.erase("input");
  }
  return samples;
}

OpDef max_pool_pick(size_t axes) {
  return {.name = name_of(axes) + "_pick",
          .doc = fmt::format("y[n,{0},c] = the x at position index of the window at ({0}): the gradient of {1}_grad",
                             axes == 2 ? "h,w" : "d,h,w", name_of(axes)),
          .operands = {"x", "index"},
          .attrs = pool_attributes(axes),
          .dtypes = kFloating,
          .kind = Reduction{monoids::kSum,
                            "index == k ? x : T(0)",
                            {"acc"},
                            [axes](const Signature& s) { return pool_domain(s, axes, 1); }},
          .infer = [axes](const Signature& s) { return infer_pick(s, axes); },
          .eval = [axes](const Signature& s, std::span<const Tensor* const> in) { return eval_pick(s, axes, in); },
          .grad = [axes](Builder& b, const Node& n, const Values& dy) -> Grads {
            const Dims image = b.type(n.operands[0]).dims;
            return {b(name_of(axes) + "_grad", {dy[0], n.operands[1]}, with_shape(n.attrs, "input", image)), {}};
          },
          .samples = pick_samples(axes)};
}

const RegisterOp max_pool2d_pick(max_pool_pick(2));
const RegisterOp max_pool3d_pick(max_pool_pick(3));

// They pick elements, and round nothing.
const StatesMixedPrecision picks({"max_pool2d", "max_pool3d", "max_pool2d_pick", "max_pool3d_pick"},
                                 MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
