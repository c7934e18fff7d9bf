#include <algorithm>
#include <optional>
#include <set>

#include "ir/evaluate/tensor.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool contains(const Dims& list, int64_t x) { return std::find(list.begin(), list.end(), x) != list.end(); }

Dims removed_axes(Builder& b, const Node& n) { return normal_axes(dims_attr(n, "axes"), b.type(n.operands[0]).rank()); }

// The reductions that remove the axes they name; argmax and the windows have other meanings.
bool removes_axes(const std::string& op) {
  static const std::set<std::string> kNames = {"reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum"};
  return kNames.count(op) > 0;
}

int64_t count(const Dims& dims, const Dims& axes) {
  int64_t n = 1;
  for (const int64_t a : axes) n *= dims[static_cast<size_t>(a)];
  return n;
}

// A value that `times` equal values give when reduced. Where the dtype does not have that number (f16 ends at 65504), a
// wider one multiplies.
ValueId repeated(Builder& b, const std::string& op, ValueId v, int64_t times) {
  if (op != "reduce_sum" || times == 1) return v;
  const DType dtype = b.type(v).dtype;
  const auto factor = static_cast<double>(times);
  if (!is_floating(dtype) || round_to(dtype, factor) == factor) return b("mul", {v, b.like(factor, v)});
  const ValueId wide = b.cast(v, dtype == DType::f32 ? DType::f64 : DType::f32);
  return b.cast(repeated(b, op, wide, times), dtype);
}

// reduce(broadcast(x)) -> broadcast(reduce(x)), times the repetitions that a sum counts.
ValueId of_broadcast(Builder& b, const Node& n) {
  const Node* inner = removes_axes(n.op->name) ? defined_by(b.graph, n.operands[0], "broadcast") : nullptr;
  if (inner == nullptr) return {};
  const std::string op = n.op->name;
  const ValueId x = inner->operands[0];
  const Dims from = b.type(x).dims, wide = b.type(n.operands[0]).dims, to = b.type(n.results[0]).dims;
  const Dims dims = dims_attr(*inner, "dims"), axes = removed_axes(b, n);
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
  if (op == "reduce_prod" && times != 1) return {};
  const ValueId narrow = own.empty() ? x : b(op, {x}, {{"axes", own}});
  const ValueId scaled = repeated(b, op, narrow, times);
  return b.type(scaled).dims == to ? scaled : b("broadcast", {scaled}, {{"dims", kept}, {"shape", to}});
}

// A reduction of single elements.
ValueId of_ones(Builder& b, const Node& n) {
  if (!removes_axes(n.op->name)) return {};
  const ValueId x = n.operands[0];
  const Dims to = b.type(n.results[0]).dims;
  if (count(b.type(x).dims, removed_axes(b, n)) != 1) return {};
  // Two returned values stay two, but one may be a view of the other.
  const bool both_stay = b.graph.is_output(n.results[0]) && (b.graph.is_output(x) || !b.graph[x].def.valid());
  return both_stay ? b("reshape", {x}, {{"shape", to}}) : b.reshape(x, to);
}

ValueId of_constant(Builder& b, const Node& n) {
  const std::optional<double> value = removes_axes(n.op->name) ? splat(b.graph, n.operands[0]) : std::nullopt;
  if (!value || n.op->name == "reduce_prod") return {};
  const int64_t times = count(b.type(n.operands[0]).dims, removed_axes(b, n));
  return repeated(b, n.op->name, b.constant(*value, Type(b.type(n.results[0]))), times);
}

}  // namespace

const std::vector<Rule>& reduction_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"reduction of ones", "", of_ones, sign_of_zero},  // 0 + -0 is 0
      {"reduction of constant", "", of_constant, rounding},
      {"reduction of broadcast", "", of_broadcast, rounding},
  };
  return rules;
}

}  // namespace heddle::passes
