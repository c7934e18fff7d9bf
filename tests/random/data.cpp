#include "tests/random/data.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/random/instance.h"

namespace heddle::testing {
using namespace ir;
namespace {

uint64_t hash_text(const std::string& text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;  // FNV-1a
  return hash;
}

double unit(Random& r) { return std::ldexp(static_cast<double>(r.below(int64_t{1} << 53)), -53); }

// What follows the first dot of the name, up to the next.
std::string style_of(const std::string& name) {
  const size_t dot = name.find('.');
  if (dot == std::string::npos) return {};
  return name.substr(dot + 1, name.find('.', dot + 1) - dot - 1);
}

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

double special_real(Random& r, DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double subnormal = dtype == DType::f16 ? 0x1p-20 : 0x1p-130;
  const std::array<double, 10> list = {std::numeric_limits<double>::quiet_NaN(),
                                       kInfinity,
                                       -kInfinity,
                                       0.0,
                                       -0.0,
                                       subnormal,
                                       largest(dtype),
                                       -largest(dtype),
                                       1,
                                       -1};
  return list[static_cast<size_t>(r.below(list.size()))];
}

double real_of(const std::string& style, Random& r, DType dtype) {
  if (style == "positive") return 0.25 + 3.75 * unit(r);
  if (style == "whole") return static_cast<double>(r.below(7) - 3);
  if (style == "wide") return (r.chance(50) ? 1 : -1) * std::pow(10, 12 * unit(r) - 6);
  if (style == "special" && r.chance(15)) return special_real(r, dtype);
  return 4 * unit(r) - 2;
}

int64_t special_integer(Random& r, DType dtype) {
  const auto width = static_cast<unsigned>(bits(dtype));
  const uint64_t top = uint64_t{1} << (width - 1);
  const std::array<uint64_t, 6> list = {top, top - 1, 0, 1, ~uint64_t{0}, top + 1};
  return wrap_to(dtype, static_cast<int64_t>(list[static_cast<size_t>(r.below(list.size()))]));
}

int64_t integer_of(const std::string& style, Random& r, DType dtype) {
  if (dtype == DType::boolean) return r.below(2);
  if (style.starts_with("below")) return r.below(std::max<int64_t>(1, std::atoll(style.c_str() + 5)));
  if (style == "special" && r.chance(60)) return special_integer(r, dtype);
  if (style == "wide" || style == "special")
    return wrap_to(dtype, static_cast<int64_t>(static_cast<uint64_t>(r.below(int64_t{1} << 62)) * 3));
  return is_signed(dtype) ? r.below(9) - 4 : r.below(9);
}

}  // namespace

Tensor random_data(const Graph& g, ValueId input) {
  const std::string& name = g[input].name;
  const Type& type = g[input].type;
  // g17 and g17.eval share states, and what they hold.
  Random r(hash_text(name, hash_text(g.name.substr(0, g.name.find('.')), 14695981039346656037u)));
  const std::string style = style_of(name);
  Tensor t(type);
  for (double& v : t.real) v = round_to(type.dtype, real_of(style, r, type.dtype));
  for (int64_t& v : t.integer) v = integer_of(style, r, type.dtype);
  return t;
}

NamedTensors random_data(const Graph& g) {
  NamedTensors all;
  for (const ValueId v : g.inputs) all.emplace(g[v].name, random_data(g, v));
  return all;
}

}  // namespace heddle::testing
