// The decomposition of attention into products and elementwise operators. Scores are in memory, and masks are
// comparisons of positions.
#include <cmath>
#include <limits>

#include "ir/ops/attention.h"
#include "ir/ops/expr.h"
#include "ir/ops/reduce.h"

namespace heddle::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ValueId finite(Builder& b, ValueId x) {
  const ValueId size = b("abs", {x});
  return b("lt", {size, b.like(kInfinity, size)});
}

ValueId both(Builder& b, ValueId x, ValueId y) { return x.valid() ? b("and", {x, y}) : y; }

// The lowest finite number of the type. Differences from it are not nan.
double lowest_of(DType dtype) {
  return dtype == DType::f64 ? std::numeric_limits<double>::lowest()
                             : static_cast<double>(std::numeric_limits<float>::lowest());
}

}  // namespace

AttentionGraph::AttentionGraph(Builder& b, const Node& n, size_t extras)
    : b_(b), n_(n), a_(attention_of(signature(b.graph, n), extras)) {}

// [N,length,heads*width] -> [N,kv_heads,group*length,width]
ValueId AttentionGraph::heads_first(ValueId v, int64_t length, int64_t width, bool of_queries) {
  const int64_t group = of_queries ? a_.group() : 1;
  if (group == 1) {
    const ValueId apart = b_.reshape(v, {a_.rows, length, a_.kv_heads, width});
    return b_("transpose", {apart}, {{"perm", Dims{0, 2, 1, 3}}});
  }
  const ValueId apart = b_.reshape(v, {a_.rows, length, a_.kv_heads, group, width});
  return b_.reshape(b_("transpose", {apart}, {{"perm", Dims{0, 2, 3, 1, 4}}}),
                    {a_.rows, a_.kv_heads, group * length, width});
}

ValueId AttentionGraph::heads_last(ValueId v, int64_t length, int64_t width, bool of_queries) {
  const int64_t group = of_queries ? a_.group() : 1;
  const Dims joined{a_.rows, length, a_.kv_heads * group * width};
  if (group == 1) return b_.reshape(b_("transpose", {v}, {{"perm", Dims{0, 2, 1, 3}}}), joined);
  const ValueId apart = b_.reshape(v, {a_.rows, a_.kv_heads, group, length, width});
  return b_.reshape(b_("transpose", {apart}, {{"perm", Dims{0, 3, 1, 2, 4}}}), joined);
}

ValueId AttentionGraph::product(ValueId x, ValueId y, bool transpose_x, bool transpose_y) {
  Attrs attrs{{"transpose_a", transpose_x}, {"transpose_b", transpose_y}};
  const auto precision = n_.attrs.find("precision");
  if (precision != n_.attrs.end()) attrs.insert(*precision);
  return b_("matmul", {x, y}, attrs);
}

ValueId AttentionGraph::count(int64_t axis, int64_t first) {
  const ValueId places = b_("iota", {}, {{"axis", axis}, {"shape", a_.score_dims()}});
  return first == 0 ? places : b_("add", {places, b_.like(static_cast<double>(first), places)});
}

// bool: which keys a query sees; invalid if it sees all keys.
ValueId AttentionGraph::visible() {
  ValueId seen;
  const auto see = [&](ValueId condition) { seen = both(b_, seen, condition); };
  if (a_.causal || a_.window > 0) {
    const ValueId place = count(2, a_.shift()), key = count(3, 0);
    const auto near = [&](ValueId x, ValueId y) {
      const ValueId distance = b_("sub", {x, y});
      return b_("lt", {distance, b_.like(static_cast<double>(a_.window), distance)});
    };
    const bool reaches = a_.window > a_.queries + a_.keys;  // all: the number may be none of an i32
    if (a_.causal) see(b_("le", {key, place}));
    if (a_.window > 0 && !reaches) see(near(place, key));
    if (a_.window > 0 && !reaches && !a_.causal) see(near(key, place));
  }
  const auto operand = [&](int i) { return n_.operands[static_cast<size_t>(i)]; };
  if (a_.lengths >= 0) see(b_("lt", {count(3, 0), along(operand(a_.lengths), {0})}));
  if (a_.key_mask >= 0) see(along(operand(a_.key_mask), {0, 3}));
  if (a_.documents >= 0) {
    const ValueId all = operand(a_.documents);
    const ValueId of_queries =
        a_.shift() == 0 ? all
                        : b_("slice", {all}, {{"starts", Dims{0, a_.shift()}}, {"limits", Dims{a_.rows, a_.keys}}});
    see(b_("eq", {along(of_queries, {0, 2}), along(all, {0, 3})}));
  }
  return seen;
}

// ALiBi's slope of each head, [heads].
ValueId AttentionGraph::slopes() {
  int64_t power = 1;
  while (2 * power <= a_.heads) power *= 2;
  const Attrs by_head{{"shape", Dims{a_.heads}}, {"dtype", to_string(a_.score_dtype())}};
  const Expr head{b_, b_("iota", {}, by_head)};
  const double first = static_cast<double>(power), step = -8 * std::log(2.0) / first;
  const Expr later = (head - (first - 0.5)) * step;
  const Expr exponent =
      power == a_.heads ? (head + 1.0) * step : select(apply("lt", head, first), (head + 1.0) * step, later);
  return apply("exp", exponent);
}

AttentionGraph::Scores AttentionGraph::scores() {
  const ValueId q = heads_first(n_.operands[0], a_.queries, a_.width, true);
  const ValueId k = heads_first(n_.operands[1], a_.keys, a_.width, false);
  const ValueId made = b_.reshape(product(q, k, false, true), a_.score_dims());
  const Expr product = Expr{b_, b_.cast(made, a_.score_dtype())} * a_.scale;
  Expr x = product;
  if (a_.cap > 0) x.id = apply("tanh", product / a_.cap) * a_.cap;
  const auto add = [&](ValueId term) { return b_("add", {x.id, term}); };
  if (a_.bias >= 0)
    x.id = add(b_.broadcast_to(b_.cast(n_.operands[static_cast<size_t>(a_.bias)], a_.score_dtype()), a_.score_dims()));
  if (a_.alibi) {
    const ValueId distance = b_("abs", {b_("sub", {count(2, a_.shift()), count(3, 0)})});
    const ValueId steep = b_("mul", {along(slopes(), {1}), b_.cast(distance, a_.score_dtype())});
    x.id = b_("sub", {x.id, steep});
  }
  if (const ValueId seen = visible(); seen.valid()) x.id = b_("select", {seen, x.id, x.like(-kInfinity)});
  return {product, x};
}

ValueId AttentionGraph::kept() {
  const Attrs draw{{"shape", a_.score_dims()}, {"stream", std::get<int64_t>(attribute(*n_.op, n_.attrs, "stream"))}};
  const ValueId uniform = b_(
      "random_uniform", {n_.operands[static_cast<size_t>(a_.seed)], n_.operands[static_cast<size_t>(a_.step)]}, draw);
  return b_("ge", {uniform, b_.like(a_.rate, uniform)});
}

ValueId AttentionGraph::dropped(ValueId x) {
  if (a_.rate == 0) return x;
  const Expr value{b_, x};
  const Expr keep{b_, kept()};
  return select(keep, value * (1 / (1 - a_.rate)), 0.0);
}

// A product would compute 0 times inf, which is nan, for keys that a query does not see. x: [N,kv_heads,keys,width].
ValueId AttentionGraph::finite_only(ValueId x) {
  return a_.hides() ? b_("select", {finite(b_, x), x, b_.like(0, x)}) : x;
}

// Adds the values that are not finite again, in rows where they have a weight: the sum is then inf or nan. Such a row
// may also get another value of this kind, which it does not see.
ValueId AttentionGraph::with_others(ValueId y, ValueId values, ValueId weights) {
  const DType dtype = a_.score_dtype();
  const ValueId wide = b_.cast(values, dtype);
  const Expr is_finite{b_, finite(b_, wide)};
  const Expr others = select(is_finite, 0.0, Expr{b_, wide});
  const ValueId of_column = b_("reduce_sum", {others}, {{"axes", Dims{2}}});
  const ValueId of_key = b_("reduce_max", {select(is_finite, 0.0, Expr{b_, b_.like(1, wide)})}, {{"axes", Dims{3}}});
  const Dims dims = b_.type(weights).dims;
  const ValueId everywhere = b_("broadcast", {of_key}, {{"shape", dims}, {"dims", Dims{0, 1, 3}}});
  const Expr weight{b_, weights};
  const ValueId met = select(apply("ne", weight, 0.0), Expr{b_, everywhere}, 0.0);
  const ValueId of_row = b_("reduce_max", {met}, {{"axes", Dims{3}}});
  const Dims result = b_.type(y).dims;
  const ValueId rows = b_("broadcast", {of_row}, {{"shape", result}, {"dims", Dims{0, 1, 2}}});
  const ValueId columns = b_("broadcast", {of_column}, {{"shape", result}, {"dims", Dims{0, 1, 3}}});
  const Expr there = apply("gt", Expr{b_, rows}, 0.0);
  return b_("add", {y, b_.cast(select(there, Expr{b_, columns}, 0.0), b_.type(y).dtype)});
}

Values AttentionGraph::forward() {
  const Scores s = scores();
  const Dims dims = a_.score_dims(), last{3};
  const Expr most{b_, b_("reduce_max", {s.x}, {{"axes", last}})};
  const Expr floor = apply("max", most, lowest_of(a_.score_dtype()));
  const ValueId shifted = b_("sub", {s.x, spread(b_, floor, dims, last)});
  const Expr sum{b_, b_("reduce_sum", {b_("exp", {shifted})}, {{"axes", last}})};
  const Expr none = apply("eq", sum, 0.0);
  const Expr log_sum = select(none, 0.0, apply("log", sum)),
             lse = select(none, 0.0, floor + log_sum);  // without keys 0
  // Not computed from lse: if a mask makes all scores -1e9, f32 cannot hold the logarithm beside them.
  const ValueId p = b_("exp", {b_("sub", {shifted, spread(b_, log_sum, dims, last)})});
  const ValueId weights = grouped(dropped(p));
  const ValueId v = heads_first(n_.operands[2], a_.keys, a_.value_width, false);
  ValueId y = product(b_.cast(weights, a_.dtype), finite_only(v), false, false);
  if (a_.hides()) y = with_others(y, v, weights);
  return {heads_last(y, a_.queries, a_.value_width, true), lse};
}

// With p = exp(x - lse), w = dropped(p), dw = dy v^T: dv = w^T dy, dx = p (dropped(dw) - delta), where delta is the sum of
// dy * y over a head less the gradient of lse. Where p is 0, dx is.
AttentionGraph::Gradients AttentionGraph::backward(ValueId dy_joined, ValueId lse, ValueId delta) {
  const Scores s = scores();
  const Dims dims = a_.score_dims(), last{3};
  const ValueId dy = heads_first(dy_joined, a_.queries, a_.value_width, true);
  const Expr p{b_, b_("exp", {b_("sub", {s.x, spread(b_, lse, dims, last)})})};
  const ValueId dv = product(grouped(b_.cast(dropped(p), a_.dtype)), dy, true, false);
  const ValueId v = heads_first(n_.operands[2], a_.keys, a_.value_width, false);
  const ValueId dw = b_.cast(b_.reshape(product(dy, v, false, true), dims), a_.score_dtype());
  const Expr dp{b_, b_("sub", {dropped(dw), spread(b_, delta, dims, last)})};
  const Expr ds = select(apply("eq", p, 0.0), 0.0, p * dp);
  Expr dx = ds * a_.scale;
  if (a_.cap > 0) {
    const Expr t = apply("tanh", Expr{b_, s.product} / a_.cap);
    dx.id = b_("mul", {dx, 1.0 - t * t});
  }
  const ValueId of_product = grouped(b_.cast(dx, a_.dtype));
  const ValueId k = heads_first(n_.operands[1], a_.keys, a_.width, false);
  const ValueId q = heads_first(n_.operands[0], a_.queries, a_.width, true);
  return {.dq = heads_last(product(of_product, finite_only(k), false, false), a_.queries, a_.width, true),
          .dk = heads_last(product(of_product, q, true, false), a_.keys, a_.width, false),
          .dv = heads_last(dv, a_.keys, a_.value_width, false),
          .scores = ds};
}

}  // namespace heddle::ir
