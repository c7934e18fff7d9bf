#include <cmath>
#include <map>
#include <optional>

#include "passes/simplify/rules.h"

namespace heddle::passes {
using namespace ir;

std::optional<double> splat(const Graph& g, ValueId v) {
  const Node* n = defined_by(g, v, "constant");
  if (n == nullptr) return std::nullopt;
  return std::get<double>(attribute(*n->op, n->attrs, "value"));
}

bool is_splat(const Graph& g, ValueId v, double value) { return splat(g, v) == value; }

const Node* defined_by(const Graph& g, ValueId v, std::string_view op) {
  const Node* n = g.def(v);
  return n != nullptr && n->op->name == op ? n : nullptr;
}

ValueId operand_of(const Graph& g, ValueId v, std::string_view op) {
  const Node* n = defined_by(g, v, op);
  return n != nullptr ? n->operands[0] : ValueId{};
}

Dims dims_attr(const Node& n, std::string_view name) { return std::get<Dims>(attribute(*n.op, n.attrs, name)); }

namespace {

// Integers in an attribute are doubles; beyond 2^53 they would not be exact.
bool fits_attribute(double value) { return std::isfinite(value) && std::abs(value) <= 0x1p53; }

ValueId fold_elementwise(Builder& b, const Node& n) {
  Signature s{n.op, n.attrs, {}, {{b.type(n.results[0]).dtype, {}}}};
  std::vector<Tensor> values;
  for (ValueId v : n.operands) {
    const std::optional<double> value = splat(b.graph, v);
    if (!value) return {};
    s.operands.push_back({b.type(v).dtype, {}});
    values.emplace_back(s.operands.back()).set(0, *value);
  }
  std::vector<const Tensor*> operands;
  operands.reserve(values.size());
  for (const Tensor& t : values) operands.push_back(&t);
  const double result = n.op->eval(s, operands)[0].at(0);
  const bool exact = is_floating(s.results[0].dtype) ? std::isfinite(result) : fits_attribute(result);
  return exact ? b.constant(result, Type(b.type(n.results[0]))) : ValueId{};
}

ValueId fold_movement(Builder& b, const Node& n) {
  const std::optional<double> value = splat(b.graph, n.operands[0]);
  if (!value || std::isnan(*value)) return {};
  for (ValueId v : n.operands)
    if (splat(b.graph, v) != value) return {};
  if (n.op->find_attr("fill") && std::get<double>(attribute(*n.op, n.attrs, "fill")) != *value) return {};
  return b.constant(*value, Type(b.type(n.results[0])));
}

// The operand of a broadcast that the others could be computed with before they are all broadcast alike.
const Node* common_broadcast(const Graph& g, const Node& n) {
  const Node* common = nullptr;
  for (ValueId v : n.operands) {
    const Node* d = defined_by(g, v, "broadcast");
    if (d == nullptr && !splat(g, v)) return nullptr;
    if (d == nullptr) continue;
    if (common == nullptr) common = d;
    if (d->attrs != common->attrs || g[d->operands[0]].type.dims != g[common->operands[0]].type.dims) return nullptr;
  }
  return common;
}

// add(broadcast(a), broadcast(b)) -> broadcast(add(a, b)): the same numbers, computed once each.
ValueId before_broadcast(Builder& b, const Node& n) {
  const Node* common = common_broadcast(b.graph, n);
  if (common == nullptr) return {};
  const Attrs attrs = common->attrs;
  const Dims dims = b.type(common->operands[0]).dims;
  Values operands;
  for (ValueId v : n.operands) {
    const ValueId narrow = operand_of(b.graph, v, "broadcast");
    operands.push_back(narrow.valid() ? narrow : b.constant(*splat(b.graph, v), {b.type(v).dtype, dims}));
  }
  return b("broadcast", {b(n.op->name, operands, n.attrs)}, attrs);
}

// Rules on the values of operands. x, y: the operands of n.
ValueId add(Builder& b, ValueId x, ValueId y) {
  if (is_splat(b.graph, y, 0)) return x;
  if (is_splat(b.graph, x, 0)) return y;
  if (const ValueId z = operand_of(b.graph, y, "neg"); z.valid()) return b("sub", {x, z});
  if (const ValueId z = operand_of(b.graph, x, "neg"); z.valid()) return b("sub", {y, z});
  return {};
}

ValueId sub(Builder& b, ValueId x, ValueId y) {
  if (is_splat(b.graph, y, 0)) return x;
  if (is_splat(b.graph, x, 0)) return b("neg", {y});
  if (const ValueId z = operand_of(b.graph, y, "neg"); z.valid()) return b("add", {x, z});
  if (x == y && is_integer(b.type(x).dtype)) return b.like(0, x);
  return {};
}

ValueId mul(Builder& b, ValueId x, ValueId y) {
  for (const auto& [value, other] : {std::pair{y, x}, std::pair{x, y}}) {
    if (is_splat(b.graph, value, 1)) return other;
    if (is_splat(b.graph, value, -1)) return b("neg", {other});
    if (is_splat(b.graph, value, 0) && is_integer(b.type(x).dtype)) return value;
  }
  const ValueId u = operand_of(b.graph, x, "neg"), v = operand_of(b.graph, y, "neg");
  return u.valid() && v.valid() ? b("mul", {u, v}) : ValueId{};
}

ValueId divide(Builder& b, ValueId x, ValueId y) {
  if (is_splat(b.graph, y, 1)) return x;
  return is_splat(b.graph, y, -1) && is_floating(b.type(x).dtype) ? b("neg", {x}) : ValueId{};
}

ValueId power(Builder& b, ValueId x, ValueId y) {
  if (!is_floating(b.type(x).dtype)) return {};
  if (is_splat(b.graph, y, 1)) return x;
  return is_splat(b.graph, y, 2) ? b("square", {x}) : ValueId{};
}

ValueId neg(Builder& b, ValueId x) {
  if (const ValueId z = operand_of(b.graph, x, "neg"); z.valid()) return z;
  const Node* d = defined_by(b.graph, x, "sub");
  return d != nullptr ? b("sub", {d->operands[1], d->operands[0]}) : ValueId{};
}

ValueId absolute(Builder& b, ValueId x) {
  for (const char* op : {"abs", "relu", "square"})
    if (defined_by(b.graph, x, op) != nullptr) return x;
  const ValueId z = operand_of(b.graph, x, "neg");
  return z.valid() ? b("abs", {z}) : ValueId{};
}

ValueId square(Builder& b, ValueId x) {
  for (const char* op : {"abs", "neg"})
    if (const ValueId z = operand_of(b.graph, x, op); z.valid()) return b("square", {z});
  return {};
}

ValueId relu(Builder& b, ValueId x) { return defined_by(b.graph, x, "relu") != nullptr ? x : ValueId{}; }

ValueId invert(Builder& b, ValueId x) { return operand_of(b.graph, x, "not"); }

// For truth values: `neutral` leaves the other operand, its opposite decides alone.
ValueId junction(Builder& b, ValueId x, ValueId y, bool neutral) {
  if (x == y) return x;
  if (b.type(x).dtype != DType::boolean) return {};
  for (const auto& [value, other] : {std::pair{y, x}, std::pair{x, y}})
    if (const std::optional<double> known = splat(b.graph, value)) return (*known != 0) == neutral ? other : value;
  return {};
}

ValueId choose(Builder& b, const Node& n) {
  const ValueId condition = n.operands[0], x = n.operands[1], y = n.operands[2];
  if (x == y) return x;
  if (const std::optional<double> known = splat(b.graph, condition)) return *known != 0 ? x : y;
  const ValueId opposite = operand_of(b.graph, condition, "not");
  return opposite.valid() ? b("select", {opposite, y, x}) : ValueId{};
}

// Whether every value of `from` is one of `to`.
bool widens(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  const int64_t have = bits(from), get = bits(to);
  if (is_floating(from)) return is_floating(to) && get > have;
  if (is_floating(to)) return (to == DType::f64 && have <= 32) || (to == DType::f32 && have <= 16);
  if (!is_integer(to)) return false;
  return is_signed(from) ? is_signed(to) && get > have : get > have;
}

ValueId cast(Builder& b, const Node& n) {
  const ValueId x = n.operands[0];
  const DType to = b.type(n.results[0]).dtype;
  if (b.type(x).dtype == to) return x;
  const ValueId z = operand_of(b.graph, x, "cast");
  return z.valid() && widens(b.type(z).dtype, b.type(x).dtype) ? b.cast(z, to) : ValueId{};
}

}  // namespace

ValueId fold_constants(Builder& b, const Node& n) {
  if (n.operands.empty()) return {};
  if (std::holds_alternative<Elementwise>(n.op->kind)) return fold_elementwise(b, n);
  if (std::holds_alternative<Movement>(n.op->kind)) return fold_movement(b, n);
  return {};
}

ValueId simplify_elementwise(Builder& b, const Node& n) {
  if (!std::holds_alternative<Elementwise>(n.op->kind)) return {};
  if (const ValueId v = before_broadcast(b, n); v.valid()) return v;
  using Binary = ValueId (*)(Builder&, ValueId, ValueId);
  using Unary = ValueId (*)(Builder&, ValueId);
  static const std::map<std::string_view, Binary> kBinary = {
      {"add", add},
      {"sub", sub},
      {"mul", mul},
      {"div", divide},
      {"pow", power},
      {"and", [](Builder& c, ValueId x, ValueId y) { return junction(c, x, y, true); }},
      {"or", [](Builder& c, ValueId x, ValueId y) { return junction(c, x, y, false); }},
      {"max", [](Builder&, ValueId x, ValueId y) { return x == y ? x : ValueId{}; }},
      {"min", [](Builder&, ValueId x, ValueId y) { return x == y ? x : ValueId{}; }}};
  static const std::map<std::string_view, Unary> kUnary = {
      {"neg", neg}, {"abs", absolute}, {"square", square}, {"relu", relu}, {"not", invert}};
  if (const auto rule = kBinary.find(n.op->name); rule != kBinary.end())
    return rule->second(b, n.operands[0], n.operands[1]);
  if (const auto rule = kUnary.find(n.op->name); rule != kUnary.end()) return rule->second(b, n.operands[0]);
  if (n.op->name == "select") return choose(b, n);
  return n.op->name == "cast" ? cast(b, n) : ValueId{};
}

}  // namespace heddle::passes
