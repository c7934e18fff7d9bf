#include <algorithm>
#include <optional>

#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

namespace {

bool all_equal(const Dims& dims, int64_t value) {
  return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d == value; });
}

// A reshape, slice or pad that changes nothing.
ValueId same_shape(Builder& b, const Node& n) {
  return b.type(n.operands[0]).dims == b.type(n.results[0]).dims ? n.operands[0] : ValueId{};
}

ValueId reshape_of_reshape(Builder& b, const Node& n) {
  const ValueId x = operand_of(b.graph, n.operands[0], &Traits::reshapes);
  return x.valid() ? b.reshape(x, Dims(b.type(n.results[0]).dims)) : ValueId{};
}

// A transpose that moves nothing, or only dimensions of size 1.
ValueId transpose_of_nothing(Builder& b, const Node& n) {
  const ValueId x = n.operands[0];
  const Dims perm = n.op->traits.permutation(n), from = b.type(x).dims, to = b.type(n.results[0]).dims;
  Dims moved;  // the dimensions of more than one element, in the result's order
  for (const int64_t p : perm)
    if (from[static_cast<size_t>(p)] != 1) moved.push_back(p);
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return std::is_sorted(moved.begin(), moved.end()) ? b.reshape(x, to) : ValueId{};
}

ValueId transpose_of_transpose(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::permutation);
  if (inner == nullptr) return {};
  const ValueId source = inner->operands[0];
  Dims perm = n.op->traits.permutation(n);
  const Dims first = inner->op->traits.permutation(*inner);
  for (int64_t& p : perm) p = first[static_cast<size_t>(p)];
  return std::is_sorted(perm.begin(), perm.end()) ? source : b("transpose", {source}, {{"perm", perm}});
}

// A broadcast that puts dimensions of size 1 in between.
ValueId broadcast_of_ones(Builder& b, const Node& n) {
  const Dims to = b.type(n.results[0]).dims;
  return product(b.type(n.operands[0]).dims) == product(to) ? b.reshape(n.operands[0], to) : ValueId{};
}

ValueId broadcast_of_broadcast(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::spread);
  if (inner == nullptr) return {};
  const ValueId source = inner->operands[0];
  const Dims to = b.type(n.results[0]).dims;
  Dims dims = inner->op->traits.spread(*inner);
  const Dims outer = n.op->traits.spread(n);
  for (int64_t& d : dims) d = outer[static_cast<size_t>(d)];
  return b("broadcast", {source}, {{"dims", dims}, {"shape", to}});
}

Slice slice_of(const Node& n) { return n.op->traits.slice(n); }
Padding padding_of(const Node& n) { return n.op->traits.padding(n); }

ValueId build(Builder& b, ValueId x, const Slice& s) {
  Attrs attrs{{"starts", s.starts}, {"limits", s.limits}};
  if (!all_equal(s.strides, 1)) attrs["strides"] = s.strides;
  return b("slice", {x}, std::move(attrs));
}

ValueId slice_of_slice(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::slice);
  if (inner == nullptr) return {};
  Slice s = slice_of(n);
  const Slice first = slice_of(*inner);
  const Dims to = b.type(n.results[0]).dims;
  for (size_t d = 0; d < to.size(); ++d) {
    s.starts[d] = first.starts[d] + s.starts[d] * first.strides[d];
    s.strides[d] *= first.strides[d];
    s.limits[d] = s.starts[d] + (to[d] - 1) * s.strides[d] + 1;
  }
  return build(b, ValueId(inner->operands[0]), s);
}

// A slice of a concatenation that lies within one operand.
ValueId slice_of_concat(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::joined_along);
  if (inner == nullptr) return {};
  Slice s = slice_of(n);
  const auto rank = static_cast<int64_t>(s.starts.size());
  const auto axis = static_cast<size_t>(normal_axis(inner->op->traits.joined_along(*inner), rank));
  int64_t begin = 0;
  for (ValueId v : Values(inner->operands)) {
    const int64_t end = begin + b.type(v).dims[axis];
    if (s.starts[axis] >= begin && s.limits[axis] <= end) {
      s.starts[axis] -= begin;
      s.limits[axis] -= begin;
      return build(b, v, s);
    }
    begin = end;
  }
  return {};
}

// A slice that takes nothing of the padding.
ValueId slice_of_pad(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::padding);
  if (inner == nullptr) return {};
  const Padding padding = padding_of(*inner);
  if (!all_equal(padding.interior, 0)) return {};
  Slice s = slice_of(n);
  const Dims &low = padding.low, from = b.type(inner->operands[0]).dims;
  for (size_t d = 0; d < low.size(); ++d) {
    s.starts[d] -= low[d];
    s.limits[d] -= low[d];
    if (s.starts[d] < 0 || s.limits[d] > from[d]) return {};
  }
  return build(b, ValueId(inner->operands[0]), s);
}

ValueId pad_of_pad(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::padding);
  if (inner == nullptr) return {};
  Padding whole = padding_of(n);
  const Padding first = padding_of(*inner);
  if (whole.fill != first.fill || !all_equal(whole.interior, 0) || !all_equal(first.interior, 0)) return {};
  const ValueId source = inner->operands[0];
  for (size_t d = 0; d < first.low.size(); ++d) {
    whole.low[d] += first.low[d];
    whole.high[d] += first.high[d];
  }
  Attrs attrs = n.attrs;
  attrs["low"] = whole.low;
  attrs["high"] = whole.high;
  return b("pad", {source}, std::move(attrs));
}

// Two slices of one value that meet along the axis; their union when they do.
std::optional<Slice> joined(const Graph& g, ValueId x, ValueId y, size_t axis) {
  const Node *p = defined_by(g, x, &Traits::slice), *q = defined_by(g, y, &Traits::slice);
  if (p == nullptr || q == nullptr || p->operands[0] != q->operands[0]) return std::nullopt;
  Slice a = slice_of(*p);
  const Slice c = slice_of(*q);
  if (!all_equal(a.strides, 1) || !all_equal(c.strides, 1)) return std::nullopt;
  for (size_t d = 0; d < a.starts.size(); ++d)
    if (d == axis ? a.limits[d] != c.starts[d] : a.starts[d] != c.starts[d] || a.limits[d] != c.limits[d])
      return std::nullopt;
  a.limits[axis] = c.limits[axis];
  return a;
}

ValueId concat_of_one(Builder&, const Node& n) { return n.operands.size() == 1 ? n.operands[0] : ValueId{}; }

// Slices of one value that are put together as they were cut.
ValueId concat_of_slices(Builder& b, const Node& n) {
  const int64_t rank = b.type(n.results[0]).rank();
  const auto axis = static_cast<size_t>(normal_axis(n.op->traits.joined_along(n), rank));
  for (size_t i = 0; i + 1 < n.operands.size(); ++i) {
    const std::optional<Slice> both = joined(b.graph, n.operands[i], n.operands[i + 1], axis);
    if (!both) continue;
    Values operands = n.operands;
    operands[i] = build(b, ValueId(b.graph.def(operands[i])->operands[0]), *both);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    return operands.size() == 1 ? operands[0] : b("concat", operands, n.attrs);
  }
  return {};
}

// A reversal of dimensions of size 1.
ValueId reverse_of_nothing(Builder& b, const Node& n) {
  const ValueId x = n.operands[0];
  const Dims dims = b.type(x).dims, axes = n.op->traits.reversal(n);
  const auto turned = [&](int64_t axis) {
    return dims[static_cast<size_t>(normal_axis(axis, static_cast<int64_t>(dims.size())))] != 1;
  };
  return std::none_of(axes.begin(), axes.end(), turned) ? x : ValueId{};
}

ValueId reverse_of_reverse(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], &Traits::reversal);
  const int64_t rank = b.type(n.results[0]).rank();
  return inner != nullptr &&
                 normal_axes(n.op->traits.reversal(n), rank) == normal_axes(inner->op->traits.reversal(*inner), rank)
             ? inner->operands[0]
             : ValueId{};
}

}  // namespace

const std::vector<Rule>& movement_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"reshape to the same shape", has<&Traits::reshapes>, same_shape, exact},
      {"reshape of reshape", has<&Traits::reshapes>, reshape_of_reshape, exact},
      {"transpose of nothing", has<&Traits::permutation>, transpose_of_nothing, exact},
      {"transpose of transpose", has<&Traits::permutation>, transpose_of_transpose, exact},
      {"broadcast of ones", has<&Traits::spread>, broadcast_of_ones, exact},
      {"broadcast of broadcast", has<&Traits::spread>, broadcast_of_broadcast, exact},
      {"slice of everything", has<&Traits::slice>, same_shape, exact},
      {"slice of slice", has<&Traits::slice>, slice_of_slice, exact},
      {"slice of concat", has<&Traits::slice>, slice_of_concat, exact},
      {"slice of pad", has<&Traits::slice>, slice_of_pad, exact},
      {"pad of nothing", has<&Traits::padding>, same_shape, exact},
      {"pad of pad", has<&Traits::padding>, pad_of_pad, exact},
      {"concat of one", has<&Traits::joined_along>, concat_of_one, exact},
      {"concat of slices", has<&Traits::joined_along>, concat_of_slices, exact},
      {"reverse of nothing", has<&Traits::reversal>, reverse_of_nothing, exact},
      {"reverse of reverse", has<&Traits::reversal>, reverse_of_reverse, exact},
  };
  return rules;
}

}  // namespace heddle::passes
