#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  if (x.rank() < 1) throw InferError(fmt::format("input is {}, expected rank 1 or more", to_string(x)));
  const Type row{x.dtype, {x.dims.back()}};
  for (size_t i = 1; i < 3; ++i)
    if (s.operands[i] != row)
      throw InferError(fmt::format("{} is {}, input {} expects {}", i == 1 ? "scale" : "bias", to_string(s.operands[i]),
                                   to_string(x), to_string(row)));
  return {x};
}

// The normalised rows and 1 / sqrt(variance + eps) of each. Forward and backward build them in the same way, so that
// `simplify` merges them.
struct Normalised {
  Dims dims, last, others;
  ValueId x, rstd;  // both in x's shape
};

Normalised normalised(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  const ValueId x = n.operands[0];
  const int64_t rank = s.operands[0].rank();
  Normalised r{.dims = s.operands[0].dims, .last = {rank - 1}, .others = {}, .x = {}, .rstd = {}};
  for (int64_t d = 0; d + 1 < rank; ++d) r.others.push_back(d);
  const ValueId mean = b("reduce_mean", {x}, {{"axes", r.last}});
  const ValueId centered = b("sub", {x, spread(b, mean, r.dims, r.last)});
  const ValueId variance = b("reduce_mean", {b("square", {centered})}, {{"axes", r.last}});
  const ValueId rstd = b("rsqrt", {b("add", {variance, b.like(s.real("eps"), variance)})});
  r.rstd = spread(b, rstd, r.dims, r.last);
  r.x = b("mul", {centered, r.rstd});
  return r;
}

Values decomposition(Builder& b, const Node& n) {
  const ValueId scale = n.operands[1];
  const ValueId bias = n.operands[2];
  const Normalised r = normalised(b, n);
  const ValueId scaled = b("mul", {r.x, spread(b, scale, r.dims, r.others)});
  return {b("add", {scaled, spread(b, bias, r.dims, r.others)})};
}

ValueId row_mean(Builder& b, ValueId v, const Normalised& r) {
  return spread(b, b("reduce_mean", {v}, {{"axes", r.last}}), r.dims, r.last);
}
ValueId column_sum(Builder& b, ValueId v, const Normalised& r) {
  return r.others.empty() ? v : b("reduce_sum", {v}, {{"axes", r.others}});
}

// With h the normalised x and g = dy * scale: dx = rstd * (g - mean(g) - h * mean(g * h)) (Ba, Kiros, Hinton 2016,
// arXiv:1607.06450, differentiated).
Grads grad(Builder& b, const Node& n, const Values& dy) {
  const ValueId scale = n.operands[1];
  const Normalised r = normalised(b, n);
  const ValueId g = b("mul", {dy[0], spread(b, scale, r.dims, r.others)});
  const ValueId along = row_mean(b, b("mul", {g, r.x}), r);
  const ValueId centered = b("sub", {g, row_mean(b, g, r)});
  const ValueId dx = b("mul", {r.rstd, b("sub", {centered, b("mul", {r.x, along})})});
  const ValueId dscale = column_sum(b, b("mul", {dy[0], r.x}), r);
  return {dx, dscale, column_sum(b, dy[0], r)};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  Tensor y(s.results[0]);
  const auto width = static_cast<size_t>(y.type.dims.back());
  const auto n = static_cast<double>(width);
  for (size_t start = 0; start < y.real.size(); start += width) {
    const double* x = in[0]->real.data() + start;
    Sum sum, squares;
    for (size_t i = 0; i < width; ++i) sum.add(x[i]);
    const double mean = sum.total() / n;
    for (size_t i = 0; i < width; ++i) squares.add((x[i] - mean) * (x[i] - mean));
    const double deviation = std::sqrt(squares.total() / n + s.real("eps"));
    for (size_t i = 0; i < width; ++i) y.real[start + i] = (x[i] - mean) / deviation * in[1]->real[i] + in[2]->real[i];
  }
  return {y};
}

const RegisterOp layer_norm(
    {.name = "layer_norm",
     .doc = "y = (x - mean) / sqrt(variance + eps) * scale + bias, mean and biased variance over the last dimension "
            "(Ba, Kiros, Hinton 2016, arXiv:1607.06450)",
     .operands = {"x", "scale", "bias"},
     .attrs = {{.name = "eps", .type = KeyType::real, .doc = "added to the variance", .fallback = 1e-5}},
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .decomposition = decomposition,
     .flops = 8,
     .samples = {{.shapes = {{4, 10}, {10}, {10}}},
                 {.shapes = {{7, 33}, {33}, {33}}},
                 {.shapes = {{1, 5}, {5}, {5}}},
                 {.shapes = {{3, 5, 4}, {4}, {4}}, .attrs = {{"eps", 1e-3}}},
                 {.shapes = {{9}, {9}, {9}}},
                 {.shapes = {{2, 257}, {257}, {257}}}}});

const StatesMixedPrecision restores({"layer_norm"}, MixedRule::restores, "f32");

}  // namespace
}  // namespace heddle::ir
