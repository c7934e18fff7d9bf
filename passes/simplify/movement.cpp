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
  const ValueId x = operand_of(b.graph, n.operands[0], "reshape");
  return x.valid() ? b.reshape(x, Dims(b.type(n.results[0]).dims)) : ValueId{};
}

// A transpose that moves nothing, or only dimensions of size 1.
ValueId transpose_of_nothing(Builder& b, const Node& n) {
  const ValueId x = n.operands[0];
  const Dims perm = dims_attr(n, "perm"), from = b.type(x).dims, to = b.type(n.results[0]).dims;
  Dims moved;  // the dimensions of more than one element, in the result's order
  for (const int64_t p : perm)
    if (from[static_cast<size_t>(p)] != 1) moved.push_back(p);
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return std::is_sorted(moved.begin(), moved.end()) ? b.reshape(x, to) : ValueId{};
}

ValueId transpose_of_transpose(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], "transpose");
  if (inner == nullptr) return {};
  const ValueId source = inner->operands[0];
  Dims perm = dims_attr(n, "perm");
  const Dims first = dims_attr(*inner, "perm");
  for (int64_t& p : perm) p = first[static_cast<size_t>(p)];
  return std::is_sorted(perm.begin(), perm.end()) ? source : b("transpose", {source}, {{"perm", perm}});
}

// A broadcast that puts dimensions of size 1 in between.
ValueId broadcast_of_ones(Builder& b, const Node& n) {
  const Dims to = b.type(n.results[0]).dims;
  return product(b.type(n.operands[0]).dims) == product(to) ? b.reshape(n.operands[0], to) : ValueId{};
}

ValueId broadcast_of_broadcast(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], "broadcast");
  if (inner == nullptr) return {};
  const ValueId source = inner->operands[0];
  const Dims to = b.type(n.results[0]).dims;
  Dims dims = dims_attr(*inner, "dims");
  const Dims outer = dims_attr(n, "dims");
  for (int64_t& d : dims) d = outer[static_cast<size_t>(d)];
  return b("broadcast", {source}, {{"dims", dims}, {"shape", to}});
}

struct Slice {
  Dims starts, limits, strides;
};

Slice slice_of(const Node& n) {
  Slice s{dims_attr(n, "starts"), dims_attr(n, "limits"), dims_attr(n, "strides")};
  if (s.strides.empty()) s.strides.assign(s.starts.size(), 1);
  return s;
}

ValueId build(Builder& b, ValueId x, const Slice& s) {
  Attrs attrs{{"starts", s.starts}, {"limits", s.limits}};
  if (!all_equal(s.strides, 1)) attrs["strides"] = s.strides;
  return b("slice", {x}, std::move(attrs));
}

ValueId slice_of_slice(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], "slice");
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
  const Node* inner = defined_by(b.graph, n.operands[0], "concat");
  if (inner == nullptr) return {};
  Slice s = slice_of(n);
  const auto rank = static_cast<int64_t>(s.starts.size());
  const auto axis =
      static_cast<size_t>(normal_axis(std::get<int64_t>(attribute(*inner->op, inner->attrs, "axis")), rank));
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
  const Node* inner = defined_by(b.graph, n.operands[0], "pad");
  if (inner == nullptr || !all_equal(dims_attr(*inner, "interior"), 0)) return {};
  Slice s = slice_of(n);
  const Dims low = dims_attr(*inner, "low"), from = b.type(inner->operands[0]).dims;
  for (size_t d = 0; d < low.size(); ++d) {
    s.starts[d] -= low[d];
    s.limits[d] -= low[d];
    if (s.starts[d] < 0 || s.limits[d] > from[d]) return {};
  }
  return build(b, ValueId(inner->operands[0]), s);
}

ValueId pad_of_pad(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], "pad");
  if (inner == nullptr || attribute(*n.op, n.attrs, "fill") != attribute(*inner->op, inner->attrs, "fill")) return {};
  if (!all_equal(dims_attr(n, "interior"), 0) || !all_equal(dims_attr(*inner, "interior"), 0)) return {};
  const ValueId source = inner->operands[0];
  Attrs attrs = n.attrs;
  Dims low = dims_attr(n, "low"), high = dims_attr(n, "high");
  const Dims first_low = dims_attr(*inner, "low"), first_high = dims_attr(*inner, "high");
  for (size_t d = 0; d < low.size(); ++d) {
    low[d] += first_low[d];
    high[d] += first_high[d];
  }
  attrs["low"] = low;
  attrs["high"] = high;
  return b("pad", {source}, std::move(attrs));
}

// Two slices of one value that meet along the axis; their union when they do.
std::optional<Slice> joined(const Graph& g, ValueId x, ValueId y, size_t axis) {
  const Node *p = defined_by(g, x, "slice"), *q = defined_by(g, y, "slice");
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
  const auto axis = static_cast<size_t>(normal_axis(std::get<int64_t>(attribute(*n.op, n.attrs, "axis")), rank));
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
  const Dims dims = b.type(x).dims, axes = dims_attr(n, "axes");
  const auto turned = [&](int64_t axis) {
    return dims[static_cast<size_t>(normal_axis(axis, static_cast<int64_t>(dims.size())))] != 1;
  };
  return std::none_of(axes.begin(), axes.end(), turned) ? x : ValueId{};
}

ValueId reverse_of_reverse(Builder& b, const Node& n) {
  const Node* inner = defined_by(b.graph, n.operands[0], "reverse");
  const int64_t rank = b.type(n.results[0]).rank();
  return inner != nullptr && normal_axes(dims_attr(n, "axes"), rank) == normal_axes(dims_attr(*inner, "axes"), rank)
             ? inner->operands[0]
             : ValueId{};
}

}  // namespace

const std::vector<Rule>& movement_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"reshape to the same shape", "reshape", same_shape, exact},
      {"reshape of reshape", "reshape", reshape_of_reshape, exact},
      {"transpose of nothing", "transpose", transpose_of_nothing, exact},
      {"transpose of transpose", "transpose", transpose_of_transpose, exact},
      {"broadcast of ones", "broadcast", broadcast_of_ones, exact},
      {"broadcast of broadcast", "broadcast", broadcast_of_broadcast, exact},
      {"slice of everything", "slice", same_shape, exact},
      {"slice of slice", "slice", slice_of_slice, exact},
      {"slice of concat", "slice", slice_of_concat, exact},
      {"slice of pad", "slice", slice_of_pad, exact},
      {"pad of nothing", "pad", same_shape, exact},
      {"pad of pad", "pad", pad_of_pad, exact},
      {"concat of one", "concat", concat_of_one, exact},
      {"concat of slices", "concat", concat_of_slices, exact},
      {"reverse of nothing", "reverse", reverse_of_nothing, exact},
      {"reverse of reverse", "reverse", reverse_of_reverse, exact},
  };
  return rules;
}

}  // namespace heddle::passes
