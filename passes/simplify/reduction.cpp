#include <algorithm>
#include <optional>

#include "ir/evaluate/tensor.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool contains(const Dims& list, int64_t x) { return std::find(list.begin(), list.end(), x) != list.end(); }

Dims removed_axes(Builder& b, const Node& n) {
  return normal_axes(integers_of(n, "axes"), b.type(n.operands[0]).rank());
}

// What the reduction makes of equal elements, if it removes the axes that it names. Argmax and windows are unknown
// here.
OfEqual of_equal(const Node& n) {
  const Traits& traits = n.op->traits;
  return traits.removes_axes ? traits.of_equal : OfEqual::unknown;
}

int64_t count(const Dims& dims, const Dims& axes) {
  int64_t n = 1;
  for (const int64_t a : axes) n *= dims[static_cast<size_t>(a)];
  return n;
}

// The reduction of `times` elements that all equal `v`. If the dtype cannot hold `times` (f16 ends at 65504), the
// multiplication uses a wider dtype.
ValueId repeated(Builder& b, OfEqual makes, ValueId v, int64_t times) {
  if (makes != OfEqual::times || times == 1) return v;
  const DType dtype = b.type(v).dtype;
  const auto factor = static_cast<double>(times);
  if (!is_floating(dtype) || round_to(dtype, factor) == factor) return b("mul", {v, b.like(factor, v)});
  const ValueId wide = b.cast(v, dtype == DType::f32 ? DType::f64 : DType::f32);
  return b.cast(repeated(b, makes, wide, times), dtype);
}

// reduce(broadcast(x)) -> broadcast(reduce(x)); a sum is multiplied by the number of repetitions.
ValueId of_broadcast(Builder& b, const Node& n) {
  const OfEqual makes = of_equal(n);
  const Node* inner = makes != OfEqual::unknown ? defined_by(b.graph, n.operands[0], &Traits::spread) : nullptr;
  if (inner == nullptr) return {};
  const ValueId x = inner->operands[0];
  const Dims from = b.type(x).dims, wide = b.type(n.operands[0]).dims, to = b.type(n.results[0]).dims;
  const Dims dims = inner->op->traits.spread(*inner), axes = removed_axes(b, n);
  Dims own, kept;  // dimensions of x that the reduction removes; where the others go
  for (size_t i = 0; i < dims.size(); ++i) {
    if (contains(axes, dims[i])) {
      own.push_back(static_cast<int64_t>(i));
      continue;
    }
    const auto before = std::count_if(axes.begin(), axes.end(), [&](int64_t a) { return a < dims[i]; });
    kept.push_back(dims[i] - before);
  }
  const int64_t times = count(wide, axes) / count(from, own);
  if (makes == OfEqual::power && times != 1) return {};
  const ValueId narrow = own.empty() ? x : b(n.op->name, {x}, {{"axes", own}});
  const ValueId scaled = repeated(b, makes, narrow, times);
  return b.type(scaled).dims == to ? scaled : b("broadcast", {scaled}, {{"dims", kept}, {"shape", to}});
}

// A reduction over axes of size 1: each sum has one element.
ValueId of_ones(Builder& b, const Node& n) {
  if (of_equal(n) == OfEqual::unknown) return {};
  const ValueId x = n.operands[0];
  const Dims to = b.type(n.results[0]).dims;
  if (count(b.type(x).dims, removed_axes(b, n)) != 1) return {};
  // Two returned values stay two values, so the second one is a reshape of the first.
  const bool both_stay = b.graph.is_output(n.results[0]) && (b.graph.is_output(x) || !b.graph[x].def.valid());
  return both_stay ? b("reshape", {x}, {{"shape", to}}) : b.reshape(x, to);
}

ValueId of_constant(Builder& b, const Node& n) {
  const OfEqual makes = of_equal(n);
  if (makes == OfEqual::unknown || makes == OfEqual::power) return {};
  const std::optional<double> value = splat(b.graph, n.operands[0]);
  if (!value) return {};
  const int64_t times = count(b.type(n.operands[0]).dims, removed_axes(b, n));
  return repeated(b, makes, b.constant(*value, Type(b.type(n.results[0]))), times);
}

// y + f(0, updates) -> f(y, updates), where f adds its updates to its first operand.
ValueId into_the_other(Builder& b, const Node& n) {
  if (n.op->traits.arithmetic != Arithmetic::sum) return {};
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Node* inner = defined_by(b.graph, n.operands[i], &Traits::adds_to_first);
    if (inner == nullptr || !inner->op->traits.adds_to_first(*inner) || splat(b.graph, inner->operands[0]) != 0.0)
      continue;
    if (b.graph[n.operands[i]].uses.size() != 1 || b.graph.is_output(n.operands[i])) continue;
    Values operands = inner->operands;
    operands[0] = n.operands[1 - i];
    return b(inner->op->name, operands, Attrs(inner->attrs));
  }
  return {};
}

}  // namespace

const std::vector<Rule>& reduction_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"reduction of ones", has<&Traits::removes_axes>, of_ones, sign_of_zero},  // 0 + -0 is 0
      {"sum with what was added to zeros", has<&Traits::commutative>, into_the_other, rounding},
      {"reduction of constant", has<&Traits::removes_axes>, of_constant, rounding},
      {"reduction of broadcast", has<&Traits::removes_axes>, of_broadcast, rounding},
  };
  return rules;
}

}  // namespace heddle::passes
