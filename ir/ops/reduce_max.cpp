#include <limits>

#include "ir/evaluate/arithmetic.h"
#include "ir/mixed_precision.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

// The row-major number of each element among those that meet in its result, in the operand's shape.
ValueId order_of_elements(Builder& b, const Dims& dims, const Dims& axes) {
  Dims extents;
  for (const int64_t axis : axes) extents.push_back(dims[static_cast<size_t>(axis)]);
  const ValueId flat = b("iota", {}, {{"shape", Dims{product(extents)}}});
  return b("broadcast", {b.reshape(flat, extents)}, {{"dims", axes}, {"shape", dims}});
}

// The first of equal extrema takes the whole gradient, as in pooling.
Grads first_extremum(Builder& b, const Node& n, const Values& dy) {
  const Signature s = signature(b.graph, n);
  const ValueId x = n.operands[0];
  const ValueId y = n.results[0];
  const Dims dims = s.operands[0].dims;
  const Dims axes = normal_axes(s.integers("axes"), s.operands[0].rank());
  if (axes.empty()) return {dy[0]};
  const ValueId order = order_of_elements(b, dims, axes);
  const ValueId extreme = b("eq", {x, spread(b, y, dims, axes)});
  const auto beyond = static_cast<double>(reduced_count(dims, axes));
  const ValueId candidates = b("select", {extreme, order, b.like(beyond, order)});
  const ValueId first = b("reduce_min", {candidates}, {{"axes", axes}});
  const ValueId chosen = b("eq", {order, spread(b, first, dims, axes)});
  return {b("select", {chosen, spread(b, dy[0], dims, axes), b.like(0, x)})};
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_nan(double x) { return x != x; }

const RegisterOp max(
    {.name = "reduce_max",
     .doc = "y = the largest x over axes, NaN if one is; the first of equal elements gets the gradient",
     .operands = {"x"},
     .attrs = {axes_attribute()},
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kMax, "x", {"acc"}, reduced_domain},
     .traits = {.removes_axes = true, .of_equal = OfEqual::itself},
     .infer = infer_reduced,
     .eval = eval_reduced(
         {[](DType) { return -kInfinity; }, [](DType, double a, double x) { return x > a || is_nan(x) ? x : a; }},
         {lowest_integer, [](DType t, int64_t a, int64_t x) { return integer_less(t, a, x) ? x : a; }}),
     .grad = first_extremum,
     .samples = reduction_samples()});

const RegisterOp min(
    {.name = "reduce_min",
     .doc = "y = the smallest x over axes, NaN if one is; the first of equal elements gets the gradient",
     .operands = {"x"},
     .attrs = {axes_attribute()},
     .dtypes = kArithmetic,
     .kind = Reduction{monoids::kMin, "x", {"acc"}, reduced_domain},
     .traits = {.removes_axes = true, .of_equal = OfEqual::itself},
     .infer = infer_reduced,
     .eval = eval_reduced(
         {[](DType) { return kInfinity; }, [](DType, double a, double x) { return x < a || is_nan(x) ? x : a; }},
         {largest_integer, [](DType t, int64_t a, int64_t x) { return integer_less(t, x, a) ? x : a; }}),
     .grad = first_extremum,
     .samples = reduction_samples()});

// It picks an element, and rounds nothing.
const StatesMixedPrecision picks({"reduce_max", "reduce_min"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
