#include "codegen/scalar_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/c_text.h"
#include "codegen/emit.h"
#include "ir/check.h"
#include "ir/kernel/access.h"
#include "ir/visit.h"

namespace heddle::codegen {
namespace {

using namespace ir;  // NOLINT: this file speaks of little else

// A function that is made from one expression: its name, and the parameters that the expression mentions.
struct Function {
  const OpDef& op;
  std::string name, expr;
};

bool has_attribute(const Function& f, const Key& a) {
  const bool number = a.type == KeyType::flag || a.type == KeyType::integer || a.type == KeyType::real;
  return number && mentions(f.expr, a.name);
}

std::string attribute_literal(const Attr& value, DType dtype) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<int64_t>(&value)) return fmt::format("hd::i64({})", integer_literal(*i));
  // The literal has the compute type: an f16 tensor cannot hold a slope of 0.01 exactly.
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  if (const auto* d = std::get_if<double>(&value)) return literal(*d, narrow ? DType::f32 : dtype);
  if (const auto* parameter = std::get_if<ScalarName>(&value)) return parameter->name;
  return "0";
}

// A constant is an element of its tensor.
std::string constant_literal(const Attr& value, DType dtype) {
  const auto* parameter = std::get_if<ScalarName>(&value);
  return parameter != nullptr ? parameter->name : literal(std::get<double>(value), dtype);
}

std::string upper(std::string name) {
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

// template <class T, class X> HD_DEVICE T name(X x, hd::i64 k, T slope) { return T(expr); }
std::string definition(const Function& f, const std::vector<std::string>& values,
                       const std::vector<std::string>& indices) {
  std::vector<std::string> types = {"class T"}, parameters;
  if (mentions(f.expr, "To")) types.emplace_back("class To");
  for (const std::string& v : values) {
    if (!mentions(f.expr, v)) continue;
    types.push_back("class " + upper(v));
    parameters.push_back(upper(v) + " " + v);
  }
  for (const std::string& i : indices) {
    if (!mentions(f.expr, i)) continue;
    if (i == "i") types.emplace_back("class I");  // an hd::i64, or an hd::Element
    parameters.push_back((i == "i" ? "I " : "hd::i64 ") + i);
  }
  for (const Key& a : f.op.attrs)
    if (has_attribute(f, a))
      parameters.push_back((a.type == KeyType::real ? "T " : a.type == KeyType::flag ? "bool " : "hd::i64 ") + a.name);
  return fmt::format("template <{}>\nHD_DEVICE T {}({}) {{\n  return T({});\n}}\n", joined(types, ", "), f.name,
                     joined(parameters, ", "), f.expr);
}

struct NamedArgument {
  std::string name, text;
};

std::string call(const Function& f, const Signature& s, DType t, const std::vector<NamedArgument>& arguments) {
  std::vector<std::string> parts;
  for (const NamedArgument& a : arguments)
    if (mentions(f.expr, a.name)) parts.push_back(a.text);
  for (const Key& a : f.op.attrs)
    if (has_attribute(f, a)) parts.push_back(attribute_literal(attribute(f.op, s.attrs, a.name), t));
  const std::string rounded = t == DType::boolean ? compute_type(t) : storage_type(t);
  const std::string to = mentions(f.expr, "To") ? ", " + rounded : "";
  return fmt::format("op::{}<{}{}>({})", f.name, compute_type(t), to, joined(parts, ", "));
}

std::vector<NamedArgument> operand_arguments(const Signature& s, const std::vector<std::string>& texts) {
  std::vector<NamedArgument> arguments;
  for (size_t i = 0; i < texts.size() && i < s.op->operands.size(); ++i)
    arguments.push_back({s.op->operands[i], texts[i]});
  return arguments;
}

Function element_function(const OpDef& op) { return {op, op.name + "_element", std::get<Reduction>(op.kind).element}; }

// Several results of one reduction differ in `finish`: max_pool2d_y, max_pool2d_index.
Function finish_function(const OpDef& op, size_t r) {
  return {op, fmt::format("{}_{}", op.name, op.results.size() > 1 ? op.results[r] : "result"),
          std::get<Reduction>(op.kind).finish[r]};
}

bool plain_element(const Function& f) {
  return std::find(f.op.operands.begin(), f.op.operands.end(), f.expr) != f.op.operands.end();
}

bool plain_finish(const Function& f) { return f.expr == "acc" || f.expr == "acc.value" || f.expr == "acc.index"; }

}  // namespace

std::string elementwise_call(const Signature& s, const std::vector<std::string>& arguments) {
  const Function f{*s.op, identifier(s.op->name), std::get<Elementwise>(s.op->kind).expr};
  return call(f, s, s.results[0].dtype, operand_arguments(s, arguments));
}

std::string source_call(const Signature& s, const std::vector<std::string>& arguments, const std::string& i,
                        const std::string& k) {
  if (i.empty() && k.empty() && s.op->traits.splat)
    return constant_literal(attribute(*s.op, s.attrs, "value"), s.results[0].dtype);
  const Function f{*s.op, identifier(s.op->name), std::get<Source>(s.op->kind).expr};
  std::vector<NamedArgument> all = operand_arguments(s, arguments);
  all.push_back({"i", i});
  all.push_back({"k", k});
  return call(f, s, s.results[0].dtype, all);
}

// The product that a contraction adds up.
std::string product_text(const Signature& s, const std::vector<std::string>& arguments) {
  const DType dtype = s.operands[0].dtype;
  if (is_integer(dtype)) return fmt::format("hd::mul({}, {})", arguments[0], arguments[1]);  // wraps
  return fmt::format("{}({} * {})", compute_type(dtype), arguments[0], arguments[1]);
}

std::string element_call(const Signature& s, const std::vector<std::string>& arguments, const std::string& k) {
  if (std::holds_alternative<Contraction>(s.op->kind)) return product_text(s, arguments);
  const Function f = element_function(*s.op);
  std::vector<NamedArgument> all = operand_arguments(s, arguments);
  if (plain_element(f))
    for (const NamedArgument& a : all)
      if (a.name == f.expr) return a.text;
  all.push_back({"k", k});
  return call(f, s, s.operands[0].dtype, all);
}

std::string finish_call(const Signature& s, size_t r, const std::string& accumulator, int64_t count,
                        const std::string& valid) {
  if (std::holds_alternative<Contraction>(s.op->kind)) return accumulator + ".result()";
  const Function f = finish_function(*s.op, r);
  if (plain_finish(f)) return accumulator + ".result()" + f.expr.substr(3);
  return call(f, s, s.results[r].dtype,
              {{"acc", accumulator + ".result()"}, {"count", integer_literal(count)}, {"valid", valid}});
}

bool element_needs_k(const Signature& s) {
  const auto* r = std::get_if<Reduction>(&s.op->kind);
  return r != nullptr && (r->monoid.indexed || mentions(r->element, "k"));
}

bool finish_needs_valid(const Signature& s) {
  const auto* r = std::get_if<Reduction>(&s.op->kind);
  return r != nullptr &&
         std::any_of(r->finish.begin(), r->finish.end(), [](const std::string& f) { return mentions(f, "valid"); });
}

std::string monoid(const Signature& s) {
  return fmt::format("hd::{}<{}>", monoid_of(*s.op).name, compute_type(s.operands[0].dtype));
}

std::string reduction_text(const OpDef& op, const Reduction& r) {
  std::string text;
  if (const Function f = element_function(op); !plain_element(f)) text += definition(f, op.operands, {"k"});
  for (size_t i = 0; i < r.finish.size(); ++i)
    if (const Function f = finish_function(op, i); !plain_finish(f)) text += definition(f, {"acc"}, {"count", "valid"});
  return text;
}

std::string function_text(const OpDef& op) {
  return visit_kind(
      op,
      [&](const Elementwise& e) {
        return definition({op, identifier(op.name), e.expr}, op.operands, {});
      },
      [&](const Source& source) {
        return op.traits.splat ? "" : definition({op, identifier(op.name), source.expr}, op.operands, {"i", "k"});
      },
      [&](const Reduction& r) { return reduction_text(op, r); },
      [](const OneOf<Movement, Lookup, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return std::string();
      });
}

std::string emit_scalar_functions(const std::vector<const Graph*>& kernels) {
  std::set<std::string> names;
  for (const Graph* k : kernels)
    for (const NodeId n : k->order) names.insert((*k)[n].op->name);
  std::string text;
  for (const std::string& name : names) text += function_text(op_def(name));
  if (text.empty()) return text;
  return "// One function per operator used, from its definition.\nnamespace op {\n" + text + "}  // namespace op\n";
}

}  // namespace heddle::codegen
