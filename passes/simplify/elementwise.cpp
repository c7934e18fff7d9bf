#include <cmath>
#include <optional>

#include "ir/evaluate/tensor.h"
#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

std::optional<double> splat(const Graph& g, ValueId v) {
  const Node* n = defined_by(g, v, &Traits::splat);
  if (n == nullptr) return std::nullopt;
  return n->op->traits.splat(*n);
}

namespace {

// Whether a constant of the dtype holds this value exactly. Attributes hold integers as doubles, which are not exact
// beyond 2^53.
bool is_element(double value, DType dtype) {
  if (is_floating(dtype)) return std::isfinite(value) && round_to(dtype, value) == value;
  Tensor element({dtype, {}});
  element.set(0, value);
  return std::abs(value) <= 0x1p53 && element.at(0) == value;
}

// Whether a constant of the dtype holds the value up to a rounding error: it becomes neither infinite nor a less exact
// subnormal.
bool is_near_element(double value, DType dtype) {
  return std::isfinite(value) && std::abs(round_to(dtype, value) - value) <= 0x1p-8 * std::abs(value);
}

// Whether the operator is a continuous function from a floating dtype to the same dtype. Such a function is folded in
// double, and the result is rounded once.
bool is_continuous(const Signature& s) {
  if (s.op->traits.jumps || !is_floating(s.results[0].dtype)) return false;
  for (const Type& t : s.operands)
    if (t.dtype != s.results[0].dtype) return false;
  return true;
}

ValueId fold_elementwise(Builder& b, const Node& n) {
  if (!std::holds_alternative<Elementwise>(n.op->kind)) return {};
  Signature s{n.op, n.attrs, {}, {{b.type(n.results[0]).dtype, {}}}};
  std::vector<Tensor> values;
  for (ValueId v : n.operands) {
    const std::optional<double> value = splat(b.graph, v);
    if (!value) return {};
    s.operands.push_back({b.type(v).dtype, {}});
    values.emplace_back(s.operands.back()).set(0, *value);
  }
  const auto folds = is_continuous(s) ? is_near_element : is_element;
  std::vector<const Tensor*> operands;
  for (const Tensor& t : values) {
    if (!folds(t.at(0), t.type.dtype)) return {};
    operands.push_back(&t);
  }
  const double result = n.op->eval(s, operands)[0].at(0);
  return folds(result, s.results[0].dtype) ? b.constant(result, Type(b.type(n.results[0]))) : ValueId{};
}

ValueId fold_movement(Builder& b, const Node& n) {
  if (!std::holds_alternative<Movement>(n.op->kind)) return {};
  const std::optional<double> value = splat(b.graph, n.operands[0]);
  if (!value || std::isnan(*value)) return {};
  for (ValueId v : n.operands)
    if (splat(b.graph, v) != value) return {};
  if (n.op->find_attr("fill") && std::get<double>(attribute(*n.op, n.attrs, "fill")) != *value) return {};
  return b.constant(*value, Type(b.type(n.results[0])));
}

// One of the broadcasts among the operands, if the operator can be applied before it: all operands must be like
// broadcasts or constants. Otherwise nullptr.
const Node* common_broadcast(const Graph& g, const Node& n) {
  const Node* common = nullptr;
  for (ValueId v : n.operands) {
    const Node* d = defined_by(g, v, &Traits::spread);
    if (d == nullptr && !splat(g, v)) return nullptr;
    if (d == nullptr) continue;
    if (common == nullptr) common = d;
    if (d->attrs != common->attrs || g[d->operands[0]].type.dims != g[common->operands[0]].type.dims) return nullptr;
  }
  return common;
}

// add(broadcast(a), broadcast(b)) -> broadcast(add(a, b)): the same numbers, computed once each.
ValueId before_broadcast(Builder& b, const Node& n) {
  const bool elementwise = std::holds_alternative<Elementwise>(n.op->kind);
  const Node* common = elementwise ? common_broadcast(b.graph, n) : nullptr;
  if (common == nullptr) return {};
  const Attrs attrs = common->attrs;
  const Dims dims = b.type(common->operands[0]).dims;
  Values operands;
  for (ValueId v : n.operands) {
    const ValueId narrow = operand_of(b.graph, v, &Traits::spread);
    operands.push_back(narrow.valid() ? narrow : b.constant(*splat(b.graph, v), {b.type(v).dtype, dims}));
  }
  return b("broadcast", {b(n.op->name, operands, n.attrs)}, attrs);
}

// Whether `to` can hold every value of `from`.
bool widens(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  const int64_t have = bits(from), get = bits(to);
  if (is_floating(from)) return is_floating(to) && get > have;
  if (is_floating(to)) return (to == DType::f64 && have <= 32) || (to == DType::f32 && have <= 16);
  if (!is_integer(to)) return false;
  return is_signed(from) ? is_signed(to) && get > have : get > have;
}

// A cast of a lossless cast. Exception: an integer that goes through a floating type saturates at the limits of the
// last type, but a direct cast wraps. So i16 -> f32 -> i8 is not i16 -> i8.
ValueId cast_of_cast(Builder& b, const Node& n) {
  const ValueId x = n.operands[0], z = operand_of(b.graph, x, &Traits::converts);
  if (!z.valid()) return {};
  const DType from = b.type(z).dtype, between = b.type(x).dtype, to = b.type(n.results[0]).dtype;
  const bool clamps = is_integer(from) && is_floating(between) && is_integer(to) && !widens(from, to);
  return widens(from, between) && !clamps ? b.cast(z, to) : ValueId{};
}

ValueId cast_to_itself(Builder& b, const Node& n) {
  return b.type(n.operands[0]).dtype == b.type(n.results[0]).dtype ? n.operands[0] : ValueId{};
}

}  // namespace

const std::vector<Rule>& folding_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"fold elementwise", any_operator, fold_elementwise, rounding},
      {"fold movement", any_operator, fold_movement, sign_of_zero},
  };
  return rules;
}

const std::vector<Rule>& elementwise_rules() {
  using enum Agreement;
  static const std::vector<Rule> rules = {
      {"elementwise before broadcast", any_operator, before_broadcast, exact},
      {"cast to itself", has<&Traits::converts>, cast_to_itself, exact},
      {"cast of cast", has<&Traits::converts>, cast_of_cast, exact},
  };
  return rules;
}

}  // namespace heddle::passes
