#include "codegen/c_text.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/evaluate/tensor.h"

namespace heddle::codegen {
namespace {

using ir::DType;
using ir::IndexExpr;
using ir::IndexTerm;

const std::set<std::string>& reserved() {
  static const std::set<std::string> words = {
      "alignas",   "auto",     "bool",      "break",    "case",     "catch",     "char",     "class",    "const",
      "constexpr", "continue", "default",   "delete",   "do",       "double",    "else",     "enum",     "extern",
      "false",     "float",    "for",       "friend",   "goto",     "if",        "inline",   "int",      "long",
      "mutable",   "new",      "noexcept",  "operator", "private",  "protected", "public",   "register", "return",
      "short",     "signed",   "sizeof",    "static",   "struct",   "switch",    "template", "this",     "throw",
      "true",      "try",      "typedef",   "typename", "union",    "unsigned",  "using",    "virtual",  "void",
      "volatile",  "while",    "and",       "or",       "not",      "xor",       "bitand",   "bitor",    "compl",
      "asm",       "wchar_t",  "namespace", "nullptr",  "requires", "concept",   "export",   "row",      "column",
      "slot",      "matrix",   "top",       "left",     "k",        "hd",        "op",       "scratch",  "counter",
      "main",      "errno",    "NULL",      "INFINITY", "NAN",      "linux",     "unix",     "decltype", "explicit",
      "typeid",    "final",    "override"};
  return words;
}

std::string operand_text(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

// Whether the text of the expression needs parentheses before another multiplication, division or remainder.
bool is_sum(const IndexExpr& e, std::span<const std::string> names) {
  if (e.terms.size() != 1 || e.constant != 0 || e.terms[0].coefficient < 0) return true;
  const IndexTerm& t = e.terms[0];
  return t.kind == IndexTerm::Kind::dim && t.coefficient == 1 &&
         names[static_cast<size_t>(t.dim)].find(' ') != std::string::npos;
}

}  // namespace

std::string storage_type(DType dtype) {
  switch (dtype) {
    case DType::f64: return "double";
    case DType::f32: return "float";
    case DType::f16: return "hd::half";
    case DType::bf16: return "hd::bf16";
    case DType::i64: return "hd::i64";
    case DType::i32: return "int";
    case DType::i16: return "hd::i16";
    case DType::i8: return "hd::i8";
    case DType::u64: return "hd::u64";
    case DType::u32: return "hd::u32";
    case DType::u16: return "hd::u16";
    case DType::u8: return "hd::u8";
    case DType::boolean: return "hd::u8";
  }
  return "float";
}

std::string array_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? "float" : storage_type(dtype);
}

std::string compute_type(DType dtype) { return dtype == DType::boolean ? "bool" : array_type(dtype); }

std::string integer_literal(int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
  return value > INT32_MIN && value <= INT32_MAX ? std::to_string(value) : std::to_string(value) + "ll";
}

std::string literal(double value, DType dtype) {
  const std::string type = compute_type(dtype);
  if (ir::is_floating(dtype)) {
    const double v = ir::round_to(dtype, value);
    if (std::isnan(v)) return fmt::format("hd::not_a_number<{}>()", type);
    if (std::isinf(v)) return fmt::format("hd::{}<{}>()", v > 0 ? "largest" : "lowest", type);
    std::string text = type == "double" ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return type == "double" ? text : text + "f";
  }
  if (dtype == DType::boolean) return value != 0 ? "true" : "false";
  ir::Tensor element({dtype, {}});
  element.set(0, value);  // what the oracle of a constant holds
  if (dtype == DType::u64) return fmt::format("{}({}ull)", type, static_cast<uint64_t>(element.integer[0]));
  if (dtype == DType::i32 && element.integer[0] == INT32_MIN) return "(-2147483647 - 1)";  // -2147483648 is a long long
  const std::string text = integer_literal(element.integer[0]);
  return dtype == DType::i32 ? text : fmt::format("{}({})", type, text);
}

std::string comment_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += c >= ' ' && c <= '~' ? c : '?';
  while (!out.empty() && out.back() == '\\') out.back() = '/';
  return out;
}

std::string identifier(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool twice = !plain && !out.empty() && out.back() == '_';  // two underscores in a row are the compiler's
    if (!twice) out += plain ? c : '_';
  }
  if (out.empty() || (out[0] >= '0' && out[0] <= '9') || out[0] == '_') out = "v" + out;
  if (reserved().contains(out) || out.starts_with("HD_")) out += out.back() == '_' ? "v" : "_v";
  return out;
}

std::string Names::fresh(const std::string& wish) {
  const std::string base = identifier(wish);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::string index_text(const IndexExpr& e, const ir::Dims& extents, std::span<const std::string> names) {
  std::string text;
  for (const IndexTerm& t : e.terms) {
    std::string value;
    const int64_t c = t.coefficient, size = c < 0 ? -c : c;
    if (t.kind == IndexTerm::Kind::dim) {
      value = names[static_cast<size_t>(t.dim)];
      if (c != 1) value = operand_text(value);
    } else {
      const std::string inner = index_text(t.inner[0], extents, names);
      const bool divide = t.kind == IndexTerm::Kind::floor_div;
      if (range(t.inner[0], extents).low < 0)
        value = fmt::format("hd::floor_{}({}, {})", divide ? "div" : "mod", inner, t.divisor);
      else
        value = fmt::format("{} {} {}", is_sum(t.inner[0], names) ? "(" + inner + ")" : inner, divide ? '/' : '%',
                            t.divisor);
    }
    if (size != 1) value += fmt::format(" * {}", size);
    if (text.empty())
      text = c < 0 ? "-" + operand_text(value) : value;
    else
      text += (c < 0 ? " - " + operand_text(value) : " + " + value);
  }
  if (text.empty()) return std::to_string(e.constant);
  if (e.constant != 0) text += fmt::format(" {} {}", e.constant < 0 ? '-' : '+', std::abs(e.constant));
  return text;
}

std::vector<std::string> guard_conditions(const ir::IndexMap& map, std::span<const std::string> names) {
  std::vector<std::string> conditions;
  for (const ir::Guard& g : map.guards) {
    const ir::Range r = range(g.expr, map.extents);
    const std::string value = index_text(g.expr, map.extents, names);
    if (g.low >= g.high || r.high < g.low || r.low >= g.high) return {"false"};
    if (g.high - g.low == 1 && (r.low < g.low || r.high >= g.high)) {
      conditions.push_back(fmt::format("{} == {}", value, g.low));
      continue;
    }
    if (r.low < g.low) conditions.push_back(fmt::format("{} >= {}", value, g.low));
    if (r.high >= g.high) conditions.push_back(fmt::format("{} < {}", value, g.high));
  }
  return conditions;
}

std::string guard_text(const ir::IndexMap& map, std::span<const std::string> names) {
  return joined(guard_conditions(map, names), " && ");
}

std::vector<std::string> block(const std::string& head, const std::vector<std::string>& lines) {
  std::vector<std::string> out = {head + " {"};
  for (const std::string& line : lines) out.push_back(line.empty() ? line : "  " + line);
  out.emplace_back("}");
  return out;
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}

}  // namespace heddle::codegen
