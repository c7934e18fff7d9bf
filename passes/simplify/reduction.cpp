#include <algorithm>
#include <optional>
#include <set>

#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool contains(const Dims& list, int64_t x) { return std::find(list.begin(), list.end(), x) != list.end(); }

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

// A value that `times` equal values give when reduced.
ValueId repeated(Builder& b, const std::string& op, ValueId v, int64_t times) {
  if (op != "reduce_sum" || times == 1) return v;
  return b("mul", {v, b.like(static_cast<double>(times), v)});
}

// reduce(broadcast(x)) -> broadcast(reduce(x)), times the repetitions that a sum counts.
ValueId of_broadcast(Builder& b, const Node& n, const Node& inner, const Dims& axes) {
  const std::string op = n.op->name;
  const ValueId x = inner.operands[0];
  const Dims from = b.type(x).dims, wide = b.type(n.operands[0]).dims, to = b.type(n.results[0]).dims;
  const Dims dims = dims_attr(inner, "dims");
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

}  // namespace

ValueId simplify_reduction(Builder& b, const Node& n) {
  if (!removes_axes(n.op->name)) return {};
  const ValueId x = n.operands[0];
  const Type from = b.type(x), to = b.type(n.results[0]);
  const Dims axes = normal_axes(dims_attr(n, "axes"), from.rank());
  if (count(from.dims, axes) == 1) {
    // Two returned values stay two, but one may be a view of the other.
    const bool both_stay = b.graph.is_output(n.results[0]) && (b.graph.is_output(x) || !b.graph[x].def.valid());
    return both_stay ? b("reshape", {x}, {{"shape", to.dims}}) : b.reshape(x, to.dims);
  }
  if (const std::optional<double> value = splat(b.graph, x); value && n.op->name != "reduce_prod")
    return repeated(b, n.op->name, b.constant(*value, to), count(from.dims, axes));
  if (const Node* inner = defined_by(b.graph, x, "broadcast")) return of_broadcast(b, n, Node(*inner), axes);
  return {};
}

}  // namespace heddle::passes
