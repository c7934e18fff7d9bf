#include "ir/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ir/check.h"

namespace heddle::ir {
namespace {

// Sorted by name at every insertion: start-up order of translation units is unspecified, the list's order is not.
std::vector<const OpDef*>& registry() {
  static std::vector<const OpDef*> ops;
  return ops;
}

auto lower_bound(std::vector<const OpDef*>& ops, std::string_view name) {
  return std::lower_bound(ops.begin(), ops.end(), name,
                          [](const OpDef* op, std::string_view n) { return op->name < n; });
}

}  // namespace

RegisterOp::RegisterOp(OpDef def) {
  auto& ops = registry();
  const auto at = lower_bound(ops, def.name);
  HEDDLE_CHECK(at == ops.end() || (*at)->name != def.name, fmt::format("operator {} is registered twice", def.name));
  for (const Key& attr : def.attrs)
    HEDDLE_CHECK(attr.required != attr.fallback.has_value(),
                 fmt::format("{} needs {}, or has its default", def.name, attr.name));
  static std::vector<std::unique_ptr<OpDef>> owned;
  owned.push_back(std::make_unique<OpDef>(std::move(def)));
  ops.insert(at, owned.back().get());
}

const OpDef* find_op(std::string_view name) {
  auto& ops = registry();
  const auto at = lower_bound(ops, name);
  return at != ops.end() && (*at)->name == name ? *at : nullptr;
}

const OpDef& op_def(std::string_view name) {
  const OpDef* op = find_op(name);
  HEDDLE_CHECK(op != nullptr, fmt::format("no operator is called '{}'", name));
  return *op;
}

const std::vector<const OpDef*>& all_ops() { return registry(); }

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const OpDef* op : registry()) names.push_back(op->name);
  return names;
}

const Key* OpDef::find_attr(std::string_view wanted) const { return find_key(attrs, wanted); }

const Attr& attribute(const OpDef& op, const Attrs& attrs, std::string_view name) {
  if (const auto it = attrs.find(name); it != attrs.end()) return it->second;
  const Key* def = op.find_attr(name);
  HEDDLE_CHECK(def != nullptr && def->fallback.has_value(), fmt::format("{} has no attribute {}", op.name, name));
  return *def->fallback;
}

const std::vector<int64_t>& integers_of(const Node& n, std::string_view name) {
  return std::get<std::vector<int64_t>>(attribute(*n.op, n.attrs, name));
}

bool Signature::flag(std::string_view name) const { return std::get<bool>(attribute(*op, attrs, name)); }
int64_t Signature::integer(std::string_view name) const { return std::get<int64_t>(attribute(*op, attrs, name)); }
double Signature::real(std::string_view name) const { return std::get<double>(attribute(*op, attrs, name)); }
const std::string& Signature::text(std::string_view name) const {
  return std::get<std::string>(attribute(*op, attrs, name));
}
const std::vector<int64_t>& Signature::integers(std::string_view name) const {
  return std::get<std::vector<int64_t>>(attribute(*op, attrs, name));
}

Signature signature(const Graph& g, const Node& n) {
  Signature s{.op = n.op, .attrs = n.attrs, .operands = {}, .results = {}};
  s.operands.reserve(n.operands.size());
  s.results.reserve(n.results.size());
  for (const ValueId v : n.operands) s.operands.push_back(g[v].type);
  for (const ValueId v : n.results) s.results.push_back(g[v].type);
  return s;
}

namespace {
void require_equal_types(const Signature& s) {
  for (size_t i = 1; i < s.operands.size(); ++i)
    if (s.operands[i] != s.operands[0])
      throw InferError(
          fmt::format("operands differ in type: {} vs {}", to_string(s.operands[0]), to_string(s.operands[i])));
}
}  // namespace

std::vector<Type> same_type(const Signature& s) {
  require_equal_types(s);
  return {s.operands.at(0)};
}

std::vector<Type> same_shape_bool(const Signature& s) {
  require_equal_types(s);
  return {{DType::boolean, s.operands.at(0).dims}};
}

int64_t normal_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) throw InferError(fmt::format("axis {} is outside rank {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

Dims normal_axes(const Dims& axes, int64_t rank) {
  Dims normal;
  if (axes.empty())
    for (int64_t d = 0; d < rank; ++d) normal.push_back(d);
  for (const int64_t axis : axes) normal.push_back(normal_axis(axis, rank));
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end())
    throw InferError(fmt::format("axes {} name a dimension twice", to_string(axes)));
  return normal;
}

}  // namespace heddle::ir
