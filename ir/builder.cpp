#include "ir/builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/check.h"

namespace heddle::ir {
namespace {

bool admits(const OpDef& op, DType dtype) {
  return op.dtypes.empty() || std::find(op.dtypes.begin(), op.dtypes.end(), dtype) != op.dtypes.end();
}

void check_operands(const OpDef& op, const std::vector<Type>& operands) {
  const size_t declared = op.operands.size();
  if (op.variadic ? operands.size() < declared : operands.size() != declared)
    throw InferError(fmt::format("expected {}{} operand{}, got {}", op.variadic ? "at least " : "", declared,
                                 declared == 1 ? "" : "s", operands.size()));
  if (!operands.empty() && !admits(op, operands[0].dtype)) {
    std::vector<std::string> taken;
    for (const DType dtype : op.dtypes) taken.push_back(to_string(dtype));
    throw InferError(fmt::format("does not take {}, but {}", to_string(operands[0].dtype), fmt::join(taken, ", ")));
  }
}

// An integer literal is a real where a real is declared and holds it exactly.
bool convert(Attr& attr, const Key& def) {
  if (holds(def, attr)) return true;
  if (std::holds_alternative<ScalarName>(attr)) return def.scalar;
  if (def.type != KeyType::real || !std::holds_alternative<int64_t>(attr)) return false;
  const int64_t integer = std::get<int64_t>(attr);
  const auto real = static_cast<double>(integer);
  if (real >= 0x1p63 || static_cast<int64_t>(real) != integer) return false;
  attr = real;
  return true;
}

// Errors begin with the title.
std::vector<Type> infer_types(const Signature& applied, const std::string& title) {
  const OpDef& op = *applied.op;
  try {
    check_operands(op, applied.operands);
    HEDDLE_CHECK(op.infer != nullptr, fmt::format("{} has no shape rule", op.name));
    std::vector<Type> types = op.infer(applied);
    HEDDLE_CHECK(types.size() == op.results.size(), fmt::format("{} infers a wrong number of results", op.name));
    return types;
  } catch (const InferError& error) {
    throw InferError(fmt::format("{}: {}", title, error.what()));
  }
}

}  // namespace

std::vector<Type> infer_types(const OpDef& op, std::vector<Type> operands, const Attrs& attrs) {
  return infer_types({.op = &op, .attrs = attrs, .operands = std::move(operands), .results = {}});
}

std::vector<Type> infer_types(const Signature& applied) { return infer_types(applied, applied.op->name); }

Attrs canonical_attrs(const OpDef& op, Attrs attrs) {
  for (auto it = attrs.begin(); it != attrs.end();) {
    const Key* def = op.find_attr(it->first);
    if (def == nullptr) {
      const std::string hint = did_you_mean(it->first, key_names(op.attrs));
      throw InferError(
          fmt::format("{}: unknown attribute '{}'{}", op.name, it->first, hint.empty() ? "" : "; " + hint));
    }
    if (!convert(it->second, *def))
      throw InferError(fmt::format("{}: attribute '{}' is {} but must be of type {}", op.name, it->first,
                                   to_string(it->second), attribute_type(*def)));
    it = def->fallback && same(*def->fallback, it->second) ? attrs.erase(it) : std::next(it);
  }
  for (const Key& def : op.attrs)
    if (def.required && !attrs.count(def.name))
      throw InferError(fmt::format("{}: attribute '{}' is missing", op.name, def.name));
  return attrs;
}

Values Builder::multi(std::string_view op_name, const Values& operands, Attrs attrs,
                      const std::vector<std::string>& names) {
  const OpDef& op = op_def(op_name);
  std::vector<Type> operand_types, types;
  operand_types.reserve(operands.size());
  for (const ValueId v : operands) operand_types.push_back(type(v));
  try {
    attrs = canonical_attrs(op, std::move(attrs));
    types = infer_types({.op = &op, .attrs = attrs, .operands = std::move(operand_types), .results = {}},
                        title.empty() ? op.name : title);
  } catch (const InferError& error) {
    throw UserError(loc, error.what());
  }
  std::vector<std::string> wishes = names;
  const std::string base = prefix.empty() ? op.name : prefix;
  for (size_t i = wishes.size(); i < types.size(); ++i)
    wishes.push_back(names.empty() ? (i == 0 ? base : base + "." + op.results[i]) : names[0] + "." + op.results[i]);
  const NodeId n = graph.add_node(op, operands, std::move(attrs), wishes, types, loc);
  if (insert_at < graph.order.size() - 1) {
    graph.order.pop_back();
    graph.order.insert(graph.order.begin() + static_cast<std::ptrdiff_t>(insert_at), n);
    ++insert_at;
  }
  return graph[n].results;
}

ValueId Builder::operator()(std::string_view op, const Values& operands, Attrs attrs, const std::string& name) {
  return multi(op, operands, std::move(attrs), name.empty() ? std::vector<std::string>{} : std::vector{name})[0];
}

ValueId Builder::constant(double value, const Type& t) {
  return (*this)("constant", {}, {{"value", value}, {"shape", t.dims}, {"dtype", to_string(t.dtype)}});
}

ValueId Builder::broadcast_to(ValueId v, const Dims& dims) {
  const Dims from = type(v).dims;
  if (from == dims) return v;
  const size_t lead = dims.size() - std::min(from.size(), dims.size());
  Dims kept, at;  // operand dimensions that do not repeat, and where they go
  for (size_t i = 0; i < from.size(); ++i) {
    if (from.size() > dims.size() || (from[i] != 1 && from[i] != dims[lead + i]))
      throw UserError(loc, fmt::format("shapes {} and {} do not broadcast", to_string(from), to_string(dims)));
    if (from[i] == 1 && dims[lead + i] != 1) continue;
    kept.push_back(from[i]);
    at.push_back(static_cast<int64_t>(lead + i));
  }
  return (*this)("broadcast", {reshape(v, kept)}, {{"shape", dims}, {"dims", at}});
}

ValueId Builder::reshape(ValueId v, const Dims& dims) {
  return type(v).dims == dims ? v : (*this)("reshape", {v}, {{"shape", dims}});
}

ValueId Builder::cast(ValueId v, DType dtype) {
  return type(v).dtype == dtype ? v : (*this)("cast", {v}, {{"dtype", to_string(dtype)}});
}

}  // namespace heddle::ir
