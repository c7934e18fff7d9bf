// round_within, quantize_weight: numbers as whole ones, by the rule of ir/int8.h.
#include <algorithm>
#include <cmath>

#include "ir/int8.h"
#include "ir/ops/elementwise.h"
#include "ir/ops/half_to_even.h"
#include "ir/ops/reduce.h"
#include "ir/wholes.h"

namespace heddle::ir {
namespace {

// --- round_within

double within(std::span<const double> x, const Signature&) {
  if (std::isnan(x[0]) || std::isnan(x[1]) || std::isnan(x[2])) return std::nan("");
  const double whole = half_to_even(x[0]), y = whole > x[1] ? whole : x[1];  // of two zeros the limit's
  return y < x[2] ? y : x[2];
}

// Limits that are reached get what arrives.
Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Expr x{b, n.operands[0]}, low{b, n.operands[1]}, high{b, n.operands[2]}, g{b, dy[0]};
  const Expr rounded = apply("round", x);
  const Expr below = apply("lt", rounded, low);
  const Expr lifted = apply("max", rounded, low);
  const Expr above = apply("gt", lifted, high);
  const Expr of_low = select(below, g, 0);
  return {ValueId{}, select(above, 0, of_low), select(above, g, 0)};
}

const RegisterOp round_within({.name = "round_within",
                               .doc = "the nearest integral value, halves to the even one, held to [low, high]: "
                                      "min(max(round(x), low), high); nan where one of them is nan. Its "
                                      "gradient by x is zero; straight_through gives it another one",
                               .operands = {"x", "low", "high"},
                               .dtypes = kFloating,
                               .kind = Elementwise{"hd::min(hd::max(hd::rint(x), low), high)"},
                               .traits = {.jumps = true, .makes_wholes = MakesWholes::within_limits},
                               .infer = same_type,
                               .eval = eval_real(within),
                               .grad = gradient,
                               .flops = 3,
                               .samples = samples_between(3, -3.4, 3.4)});

// --- quantize_weight

struct Scales {
  Dims axes;     // that one scale is for
  int64_t axis;  // of the scales
};
Scales scales(const Signature& s) {
  const int64_t rank = s.operands[0].rank(), axis = normal_axis(s.integer("axis"), rank);
  Scales found{{}, axis};
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis) found.axes.push_back(d);
  return found;
}

std::vector<Type> infer(const Signature& s) {
  const Type& w = s.operands[0];
  if (w.rank() < 2) throw InferError("expected two axes or more, of outputs and of inputs");
  return {w, {w.dtype, {w.dims[static_cast<size_t>(scales(s).axis)]}}};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const Tensor& w = *in[0];
  const auto axis = static_cast<size_t>(scales(s).axis);
  const auto inner = static_cast<size_t>(product(Dims(w.type.dims.begin() + scales(s).axis + 1, w.type.dims.end())));
  const auto places = static_cast<size_t>(w.type.dims[axis]);
  Tensor wholes(s.results[0]), scale(s.results[1]);
  for (size_t i = 0; i < w.real.size(); ++i) {
    double& largest = scale.real[i / inner % places];
    if (std::isnan(w.real[i]) || std::abs(w.real[i]) > largest) largest = std::abs(w.real[i]);
  }
  for (double& v : scale.real) v = std::isnan(v) ? v : std::clamp<double>(v / 127, kLeastScale, kLargestWeightScale);
  for (size_t i = 0; i < w.real.size(); ++i) {
    const double whole = half_to_even(w.real[i] / scale.real[i / inner % places]);
    wholes.real[i] = std::isnan(whole) ? whole : std::clamp<double>(whole, -127, 127);
  }
  return {std::move(wholes), std::move(scale)};
}

Values decompose(Builder& b, const Node& n) {
  const Scales at = scales(signature(b.graph, n));
  const Expr w{b, n.operands[0]};
  const Dims dims = b.type(w).dims;
  const Expr largest = apply("reduce_max", apply("abs", w), {{"axes", at.axes}});
  const Expr quotient = largest / kMostOfSigned;
  const Expr scale = apply("clamp", quotient, {{"low", double{kLeastScale}}, {"high", double{kLargestWeightScale}}});
  const Expr number = w / Expr{b, spread_along(b, scale, {at.axis}, dims)};
  const ValueId most = b.like(kMostOfSigned, w), least = b.like(-kMostOfSigned, w);
  return {b("round_within", {number, least, most}), scale};
}

// So wide that a rounding does not lie within a step of a central difference.
Sample sample(const Dims& dims, int64_t axis) {
  return {.shapes = {dims}, .attrs = {{"axis", axis}}, .low = -4000, .high = 4000};
}

const RegisterOp quantize_weight(
    {.name = "quantize_weight",
     .doc = "a weight as whole numbers from -127 to 127 and a scale for each place along axis, the largest |w| there / "
            "127: w is about wholes * scale",
     .operands = {"w"},
     .results = {"wholes", "scale"},
     .attrs = {{.name = "axis", .type = KeyType::integer, .doc = "the axis of the outputs", .fallback = int64_t{0}}},
     .dtypes = {DType::f32},
     .kind = Composite{},
     .traits = {.makes_wholes = MakesWholes::and_scales},
     .infer = infer,
     .eval = eval,
     .decomposition = decompose,
     .flops = 4,
     .samples = {sample({4, 33}, 0), sample({7, 5}, 1), sample({1, 9}, 0), sample({3, 1, 5}, 0),
                 sample({6, 3, 3, 2}, 0), sample({2, 7, 3}, -1)}});

}  // namespace
}  // namespace heddle::ir
