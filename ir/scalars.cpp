#include "ir/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/builder.h"
#include "ir/evaluate/tensor.h"

namespace heddle::ir {
namespace {

const Scalar* find_scalar(const std::vector<Scalar>& scalars, std::string_view name) {
  const auto it = std::find_if(scalars.begin(), scalars.end(), [&](const Scalar& s) { return s.name == name; });
  return it == scalars.end() ? nullptr : &*it;
}

}  // namespace

bool is_taken(const std::vector<Scalar>& scalars, std::string_view name) {
  return find_scalar(scalars, name) != nullptr || op_def("call").find_attr(name) != nullptr;
}

DType scalar_dtype(const OpDef& op, const Key& attr, const Type& result) {
  if (attr.type == KeyType::integer) return DType::i64;
  const bool narrow = result.dtype == DType::f16 || result.dtype == DType::bf16;
  return narrow && std::holds_alternative<Elementwise>(op.kind) ? DType::f32 : result.dtype;
}

std::optional<Attr> scalar_number(const Attr& value, DType dtype) {
  const auto* integer = std::get_if<int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (is_floating(dtype)) {
    if (integer != nullptr) return static_cast<double>(*integer);
    return real != nullptr && !std::isnan(*real) ? std::optional<Attr>(*real) : std::nullopt;
  }
  const bool whole = real != nullptr && *real >= -0x1p63 && *real < 0x1p63 && std::trunc(*real) == *real;
  if (integer == nullptr && !whole) return std::nullopt;
  const int64_t v = integer != nullptr ? *integer : static_cast<int64_t>(*real);
  const bool fits = dtype == DType::boolean ? v == 0 || v == 1 : wrap_to(dtype, v) == v && (v >= 0 || is_signed(dtype));
  return fits ? std::optional<Attr>(v) : std::nullopt;
}

void check_scalars(const Graph& kernel, const Node& n) {
  for (const auto& [attr, value] : n.attrs) {
    const auto* named = std::get_if<ScalarName>(&value);
    if (named == nullptr) continue;
    const Scalar* scalar = find_scalar(kernel.scalars, named->name);
    if (scalar == nullptr)
      throw InferError(fmt::format("{}: @{} has no scalar ${}", n.op->name, kernel.name, named->name));
    const DType expected = scalar_dtype(*n.op, *n.op->find_attr(attr), kernel[n.results[0]].type);
    if (scalar->dtype != expected)
      throw InferError(fmt::format("{}: ${} is {}, but attribute '{}' is {} here", n.op->name, named->name,
                                   to_string(scalar->dtype), attr, to_string(expected)));
  }
}

Attrs canonical_call_attrs(const OpDef& call, const Graph& kernel, Attrs attrs) {
  Attrs numbers;
  for (const Scalar& scalar : kernel.scalars) {
    const auto given = attrs.find(scalar.name);
    if (given == attrs.end())
      throw InferError(fmt::format("call @{}: the number for its scalar ${} is missing", kernel.name, scalar.name));
    const std::optional<Attr> number = scalar_number(given->second, scalar.dtype);
    if (!number)
      throw InferError(fmt::format("call @{}: ${} is {}, expected {}", kernel.name, scalar.name,
                                   to_string(given->second), to_string(scalar.dtype)));
    numbers.emplace(scalar.name, *number);
    attrs.erase(given);
  }
  Attrs own = canonical_attrs(call, std::move(attrs));
  numbers.merge(own);
  return numbers;
}

Graph bind_scalars(const Graph& kernel, const Attrs& call) {
  Graph bound = kernel;
  bound.scalars.clear();
  for (const NodeId id : bound.order) {
    Node& n = bound[id];
    bool changed = false;
    for (auto& [name, value] : n.attrs)
      if (const auto* scalar = std::get_if<ScalarName>(&value); scalar != nullptr) {
        const auto number = call.find(scalar->name);
        if (number == call.end())
          throw InferError(fmt::format("call @{}: it has no scalar ${}", kernel.name, scalar->name));
        value = number->second;
        changed = true;
      }
    if (changed) n.attrs = canonical_attrs(*n.op, std::move(n.attrs));
  }
  return bound;
}

}  // namespace heddle::ir
