// Reductions of windows along every axis: window_sum, window_prod, window_max, window_min.
#include <algorithm>

#include "ir/evaluate/arithmetic.h"
#include "ir/evaluate/sums.h"
#include "ir/mixed_precision.h"
#include "ir/ops/windows.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  return {{s.operands[0].dtype, windowed(windows(s, s.operands[0].dims))}};
}

Eval eval_windows(Fold<double> real, Fold<int64_t> integer) {
  return [=](const Signature& s, std::span<const Tensor* const> in) -> std::vector<Tensor> {
    const Tensor& x = *in[0];
    const DType dtype = x.type.dtype;
    const std::vector<Window> axes = windows(s, x.type.dims);
    Tensor y(s.results[0]);
    size_t to = 0;
    for_each_point(y.type.dims, [&](const Dims& at) {
      double sum = x.floating() ? real.start(dtype) : 0;
      Sum added;
      int64_t whole = x.floating() ? 0 : integer.start(dtype);
      for_each_in_window(axes, x.type.dims, at, [&](int64_t from) {
        const auto i = static_cast<size_t>(from);
        if (x.floating() && real.adds)
          added.add(x.real[i]);
        else if (x.floating())
          sum = real.combine(dtype, sum, x.real[i]);
        else
          whole = wrap_to(dtype, integer.combine(dtype, whole, x.integer[i]));
      });
      if (x.floating())
        y.real[to++] = real.adds ? added.total() : sum;
      else
        y.integer[to++] = whole;
    });
    return {std::move(y)};
  };
}

OpDef windowed_reduction(const std::string& name, const std::string& what, const Monoid& monoid, Eval eval) {
  return {.name = name,
          .doc = "y = " + what + " of x in the window at each place; padding does not count",
          .operands = {"x"},
          .attrs = windows_attributes(),
          .dtypes = kArithmetic,
          .kind = Reduction{monoid, "x", {"acc"}, windows_domain},
          .infer = infer,
          .eval = std::move(eval),
          .samples = windows_samples(/*with_source=*/false)};
}

// --- window_sum ---

// Each element adds up what the windows that hold it are given: a window sum of `dy` with
// strides[d] - 1 zeros between its elements, and as many around them as bring the first window's
// first element to the operand's first place.
ValueId add_to_windows(Builder& b, const Node& n, ValueId dy) {
  const Signature s = signature(b.graph, n);
  Dims low, high, interior;
  for (const Window& w : windows(s, s.operands[0].dims)) {
    low.push_back((w.size - 1) * w.dilation - w.low);
    high.push_back(w.input + w.low - (w.output - 1) * w.stride - 1);
    interior.push_back(w.stride - 1);
  }
  const ValueId spread = b("pad", {dy}, {{"low", low}, {"high", high}, {"interior", interior}});
  return b("window_sum", {spread}, {{"window", s.integers("window")}, {"dilations", s.integers("dilations")}});
}

OpDef sum() {
  OpDef def = windowed_reduction(
      "window_sum", "the sum", monoids::kSum,
      eval_windows({[](DType) { return 0.0; }, [](DType, double a, double x) { return a + x; }, true},
                   {[](DType) { return int64_t{0}; },
                    [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) + pattern(x)); }}));
  def.grad = [](Builder& b, const Node& n, const Values& dy) -> Grads { return {add_to_windows(b, n, dy[0])}; };
  return def;
}

// --- window_prod ---

// dy times the product of the other elements, as in reduce_prod: the product of the nonzero elements, if no other
// element is zero.
Grads product_gradient(Builder& b, const Node& n, const Values& dy) {
  const ValueId x = n.operands[0];
  const ValueId zero = b("eq", {x, b.like(0, x)});
  const ValueId nonzero = b("select", {zero, b.like(1, x), x});
  const ValueId others = b("mul", {dy[0], b("window_prod", {nonzero}, n.attrs)});
  const ValueId zeros = b("window_sum", {b.cast(zero, DType::i32)}, n.attrs);
  const ValueId none = b("select", {b("eq", {zeros, b.like(0, zeros)}), others, b.like(0, others)});
  const ValueId one = b("select", {b("eq", {zeros, b.like(1, zeros)}), others, b.like(0, others)});
  const ValueId quotient = b("div", {add_to_windows(b, n, none), nonzero});
  return {b("select", {zero, add_to_windows(b, n, one), quotient})};
}

OpDef product() {
  OpDef def =
      windowed_reduction("window_prod", "the product", monoids::kProd,
                         eval_windows({[](DType) { return 1.0; }, [](DType, double a, double x) { return a * x; }},
                                      {[](DType) { return int64_t{1}; },
                                       [](DType, int64_t a, int64_t x) { return wrapping(pattern(a) * pattern(x)); }}));
  def.grad = product_gradient;
  for (Sample& sample : def.samples) {  // second derivatives are exact where no element is zero
    sample.low = 0.5;
    sample.high = 1.5;
  }
  return def;
}

// --- window_max, window_min ---

std::vector<Tensor> eval_extreme(const Signature& s, std::span<const Tensor* const> in, bool largest) {
  const Tensor& x = *in[0];
  const std::vector<Window> axes = windows(s, x.type.dims);
  Tensor y(s.results[0]);
  int64_t to = 0;
  for_each_point(y.type.dims, [&](const Dims& at) { y.copy(to++, x, place_in_window(axes, x, at, largest)); });
  return {std::move(y)};
}

OpDef extreme(const std::string& name, const std::string& which, const Monoid& monoid, bool largest) {
  OpDef def = windowed_reduction(name, which, monoid, [largest](const Signature& s, std::span<const Tensor* const> in) {
    return eval_extreme(s, in, largest);
  });
  def.samples = apart(std::move(def.samples));
  def.doc += ". The first of equals gets the gradient";
  def.grad = [largest](Builder& b, const Node& n, const Values& dy) -> Grads {
    Attrs attrs = n.attrs;
    attrs["select"] = std::string(largest ? "max" : "min");
    return {b("select_and_scatter", {n.operands[0], dy[0]}, attrs)};
  };
  return def;
}

const RegisterOp window_sum(sum());
const RegisterOp window_prod(product());
const RegisterOp window_max(extreme("window_max", "the largest", monoids::kMax, true));
const RegisterOp window_min(extreme("window_min", "the smallest", monoids::kMin, false));

const StatesMixedPrecision picks({"window_max", "window_min"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
