#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/loops.h"
#include "ir/ops/reduce.h"
#include "ir/ops/strided.h"

namespace heddle::ir {
namespace {

// How the axes of x meet in its statistics and in its scale, whose dimensions are the last ones of x.
//
//   groups of two channels, x [N,9,2,2], axes [1,3], scale [2,2]
//     ->  plain [1], channels [N,2,2], within [2] and repeats [0] of them, count 18
struct Axes {
  Dims dims;      // of x
  Dims shared;    // elements along these have one mean and one variance
  Dims plain;     // of them those along which the scale does not vary
  Dims channels;  // x without these
  Dims within;    // axes of `channels`: the rest of `shared`
  Dims repeats;   // axes of `channels` along which the scale does not vary
  double count = 1;
};

Axes axes_of(const Signature& s) {
  Axes a{.dims = s.operands[0].dims, .shared = {}, .plain = {}, .channels = {}, .within = {}, .repeats = {}};
  const int64_t rank = s.operands[0].rank(), first_scaled = rank - s.operands[1].rank();
  a.shared = normal_axes(s.integers("axes"), rank);
  for (const int64_t axis : a.shared)
    if (axis < first_scaled)
      a.plain.push_back(axis);
    else
      a.within.push_back(axis - std::ssize(a.plain));  // no plain axis comes later
  a.channels = without_axes(a.dims, a.plain);
  for (int64_t axis = 0; axis < std::ssize(a.channels) - s.operands[1].rank(); ++axis) a.repeats.push_back(axis);
  a.count = static_cast<double>(reduced_count(a.dims, a.shared));
  return a;
}

std::vector<Type> infer(const Signature& s) {
  const Type& x = s.operands[0];
  const Dims shared = normal_axes(s.integers("axes"), x.rank());
  for (size_t i = 1; i < 3; ++i) {
    const Type& part = s.operands[i];
    const bool trails = part.rank() >= 1 && part.rank() <= x.rank() &&
                        std::equal(part.dims.rbegin(), part.dims.rend(), x.dims.rbegin());
    if (part.dtype != x.dtype || !trails)
      throw InferError(fmt::format("{} is {}, expected the last dimensions of input {}", i == 1 ? "scale" : "bias",
                                   to_string(part), to_string(x)));
  }
  if (s.operands[1] != s.operands[2])
    throw InferError(fmt::format("bias is {}, scale {}", to_string(s.operands[2]), to_string(s.operands[1])));
  const Type statistic{x.dtype, without_axes(x.dims, shared)};
  return {x, statistic, statistic};
}

// Values in the shape of `channels`, and from there in that of x.
ValueId of_statistic(Builder& b, ValueId v, const Axes& a) { return spread(b, v, a.channels, a.within); }
ValueId of_scale(Builder& b, ValueId v, const Axes& a) { return spread(b, v, a.channels, a.repeats); }
ValueId everywhere(Builder& b, ValueId v, const Axes& a) { return spread(b, v, a.dims, a.plain); }

ValueId sum(Builder& b, ValueId v, const Dims& axes) {
  return axes.empty() ? v : b("reduce_sum", {v}, {{"axes", axes}});
}

// Statistics over the rows of all that x holds read it from memory in each pass; others keep what they read at hand.
bool takes_one_pass(DType dtype, const Axes& a) {
  return a.within.empty() && !a.plain.empty() && a.plain[0] == 0 && dtype != DType::f64;
}

// In doubles where the statistics are: one number for a channel, whose rounding all of its elements share.
ValueId rstd_of(Builder& b, ValueId variance, const Signature& s, const Axes& a) {
  const DType dtype = b.type(variance).dtype;
  const ValueId v = takes_one_pass(dtype, a) ? b.cast(variance, DType::f64) : variance;
  return b.cast(b("rsqrt", {b("add", {v, b.like(s.real("eps"), v)})}), dtype);
}

struct Statistics {
  ValueId mean, variance;
};

// The variance from the distances to the mean: a sum of squares would lose it where the mean is large.
Statistics in_two_passes(Builder& b, ValueId x, const Axes& a) {
  const ValueId mean = b("reduce_mean", {x}, {{"axes", a.shared}});
  const ValueId distance = b("sub", {x, everywhere(b, of_statistic(b, mean, a), a)});
  return {mean, b("reduce_mean", {b("square", {distance})}, {{"axes", a.shared}})};
}

// Both in doubles, mean(x^2) - mean(x)^2. A float's square is exact in 53 bits and its sums lose
// next to nothing, so that of the variance some (mean / deviation)^2 2^-53 are lost: no more than
// where distances are to a mean that was rounded to a float, whose error's square is up to (mean /
// deviation)^2 2^-48 (tests/numeric/normalize_test.cpp).
Statistics in_one_pass(Builder& b, ValueId x, const Axes& a) {
  const DType dtype = b.type(x).dtype;
  const ValueId exact = b.cast(x, DType::f64);
  const ValueId mean = b("reduce_mean", {exact}, {{"axes", a.shared}});
  const ValueId squares = b("reduce_mean", {b("square", {exact})}, {{"axes", a.shared}});
  const ValueId variance = b("sub", {squares, b("square", {mean})});
  const ValueId rounded = b("max", {variance, b.like(0, variance)});  // else -1e-16 of equal elements
  return {b.cast(mean, dtype), b.cast(rounded, dtype)};
}

Values decomposition(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  const Axes a = axes_of(s);
  const ValueId x = n.operands[0];
  const auto [mean, variance] = takes_one_pass(b.type(x).dtype, a) ? in_one_pass(b, x, a) : in_two_passes(b, x, a);
  const ValueId centered = b("sub", {x, everywhere(b, of_statistic(b, mean, a), a)});
  const ValueId factor = b("mul", {of_statistic(b, rstd_of(b, variance, s, a), a), of_scale(b, n.operands[1], a)});
  const ValueId scaled = b("mul", {centered, everywhere(b, factor, a)});
  return {b("add", {scaled, everywhere(b, of_scale(b, n.operands[2], a), a)}), mean, variance};
}

// With c = x - mean, r = 1 / sqrt(variance + eps), g = dy * scale and m elements in a mean:
//   dx = r * (g - sum(g) / m - c * r^2 * sum(g * c) / m),  dscale = sum(dy * c * r),  dbias = sum(dy).
// dy and dy * c are summed once, as far as the scale does not vary; all sums come from these. The distance is mean - x
// here: the forward pass's x - mean would be kept for this one, where x is read anyway.
Grads grad(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const Axes a = axes_of(s);
  const ValueId x = n.operands[0], mean = n.results[1], variance = n.results[2];
  const auto per_element = [&](ValueId v) { return b("mul", {v, b.like(1 / a.count, v)}); };
  const auto add_to = [&](ValueId& total, ValueId v) { total = total.valid() ? b("add", {total, v}) : v; };
  const ValueId distance = b("sub", {everywhere(b, of_statistic(b, mean, a), a), x});
  ValueId dx, dscale, dbias;
  ValueId of_mean = dy[1], of_distance;  // what the statistics add, before it is spread
  if (dy[2].valid()) of_distance = b("mul", {dy[2], b.like(-2, dy[2])});
  if (dy[0].valid()) {
    const ValueId rstd = rstd_of(b, variance, s, a);
    const ValueId scale = of_scale(b, n.operands[1], a), r = of_statistic(b, rstd, a);
    const ValueId total = sum(b, dy[0], a.plain), along = sum(b, b("mul", {dy[0], distance}), a.plain);
    dbias = sum(b, total, a.repeats);
    dscale = b("neg", {sum(b, b("mul", {along, r}), a.repeats)});
    const ValueId g = sum(b, b("mul", {total, scale}), a.within), gc = sum(b, b("mul", {along, scale}), a.within);
    const ValueId cubed = b("mul", {rstd, b("square", {rstd})});
    const ValueId from_mean = b("neg", {b("mul", {rstd, g})}), from_distance = b("neg", {b("mul", {cubed, gc})});
    of_mean = of_mean.valid() ? b("add", {from_mean, of_mean}) : from_mean;
    of_distance = of_distance.valid() ? b("add", {from_distance, of_distance}) : from_distance;
    dx = b("mul", {dy[0], everywhere(b, b("mul", {scale, r}), a)});
  }
  if (of_mean.valid()) add_to(dx, everywhere(b, of_statistic(b, per_element(of_mean), a), a));
  if (of_distance.valid())
    add_to(dx, b("mul", {distance, everywhere(b, of_statistic(b, per_element(of_distance), a), a)}));
  return {dx, dscale, dbias};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& x = *in[0];
  Tensor y(s.results[0]), mean(s.results[1]), variance(s.results[2]);
  const Dims shared = normal_axes(s.integers("axes"), x.type.rank());
  const Dims strides = row_major_strides(mean.type.dims);
  const auto m = static_cast<double>(reduced_count(x.type.dims, shared));
  std::vector<size_t> statistic;  // of each element
  for_each_point(x.type.dims, [&](const Dims& at) {
    int64_t to = 0, kept = 0;
    for (int64_t d = 0; d < x.type.rank(); ++d)
      if (std::find(shared.begin(), shared.end(), d) == shared.end())
        to += at[static_cast<size_t>(d)] * strides[static_cast<size_t>(kept++)];
    statistic.push_back(static_cast<size_t>(to));
  });
  Sums sums(mean.real.size()), squares(mean.real.size());
  for (size_t i = 0; i < x.real.size(); ++i) sums.add(statistic[i], x.real[i]);
  for (size_t i = 0; i < mean.real.size(); ++i) mean.real[i] = sums.total(i) / m;
  for (size_t i = 0; i < x.real.size(); ++i) {
    const double distance = x.real[i] - mean.real[statistic[i]];
    squares.add(statistic[i], distance * distance);
  }
  for (size_t i = 0; i < variance.real.size(); ++i) variance.real[i] = squares.total(i) / m;
  for (size_t i = 0; i < x.real.size(); ++i) {
    const double deviation = std::sqrt(variance.real[statistic[i]] + s.real("eps"));
    const size_t channel = i % in[1]->real.size();
    y.real[i] = (x.real[i] - mean.real[statistic[i]]) / deviation * in[1]->real[channel] + in[2]->real[channel];
  }
  return {y, mean, variance};
}

const RegisterOp normalize(
    {.name = "normalize",
     .doc = "y = (x - mean) / sqrt(variance + eps) * scale + bias, mean and biased variance over axes; scale and bias "
            "have "
            "the last dimensions of x (Ioffe, Szegedy 2015, arXiv:1502.03167; Wu, He 2018, arXiv:1803.08494)",
     .operands = {"x", "scale", "bias"},
     .results = {"y", "mean", "variance"},
     .attrs = {{.name = "axes",
                .type = KeyType::integer,
                .count = Count::several,
                .doc = "what has one mean and one variance; empty: all",
                .required = true},
               {.name = "eps", .type = KeyType::real, .doc = "added to the variance", .fallback = 1e-5}},
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .decomposition = decomposition,
     .flops = 8,
     .samples = {{.shapes = {{4, 10}, {10}, {10}}, .attrs = {{"axes", Dims{0}}}},
                 {.shapes = {{3, 5, 4, 7}, {7}, {7}}, .attrs = {{"axes", Dims{0, 1, 2}}, {"eps", 1e-3}}},
                 {.shapes = {{33, 1}, {1}, {1}}, .attrs = {{"axes", Dims{0}}}},
                 {.shapes = {{3, 9, 5}, {5}, {5}}, .attrs = {{"axes", Dims{1}}}},
                 {.shapes = {{2, 6, 3, 5}, {3, 5}, {3, 5}}, .attrs = {{"axes", Dims{1, 3}}}},
                 {.shapes = {{7, 33}, {33}, {33}}, .attrs = {{"axes", Dims{-1}}}},
                 {.shapes = {{2, 3, 5}, {3, 5}, {3, 5}}, .attrs = {{"axes", Dims{}}}},
                 {.shapes = {{257, 2}, {2}, {2}}, .attrs = {{"axes", Dims{0}}}}}});

const StatesMixedPrecision restores({"normalize"}, MixedRule::restores, "16 bits of batch_norm, f32 of the others");

}  // namespace
}  // namespace heddle::ir
