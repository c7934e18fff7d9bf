#include "tests/numeric/edge_values.h"

#include <cmath>
#include <limits>

#include "ir/evaluate/arithmetic.h"
#include "ir/evaluate/tensor_bytes.h"

namespace heddle::testing {
using namespace ir;

namespace {

struct Format {
  int digits, least, most;  // of the significand; exponents of the smallest and largest normal number
};

Format format(DType dtype) {
  switch (dtype) {
    case DType::f16: return {11, -14, 15};
    case DType::bf16: return {8, -126, 127};
    case DType::f32: return {24, -126, 127};
    default: return {53, -1022, 1023};
  }
}

std::vector<double> floating_edges(DType dtype) {
  const Format f = format(dtype);
  const double unit = std::ldexp(1, 1 - f.digits);
  std::vector<double> list = {0, 1, 0.5, 1.5, 2.5, 3, 6, 20, 88, 104, 255.75, 0.1, 1e-3};
  for (const double x : {std::ldexp(1, f.least - f.digits + 1),           // the smallest subnormal
                         std::ldexp(1 - unit / 2, f.least),               // the largest subnormal
                         std::ldexp(1, f.least), 1 + unit, 1 - unit / 2,  // neighbours of 1
                         std::ldexp(1, f.digits - 1) - 0.5, std::ldexp(1, f.digits), std::ldexp(2 - unit, f.most),
                         std::ldexp(1, f.most / 2 + 1),  // the largest; too large squared
                         std::numeric_limits<double>::infinity()})
    list.push_back(x);
  // The limits of integers, and halfway cases between narrower values, with a little more or less.
  for (const double x : {0x1p7, 0x1p8, 0x1p15, 0x1p16, 0x1p31, 0x1p32, 0x1p63, 0x1p64, 65520.0, 1 + 0x1p-11, 1 + 0x1p-8,
                         0x1p-25, 0x1p-134})
    for (const double y : {x, x * (1 - 0x1p-40), x * (1 + 0x1p-40), x - 1})
      if (round_to(dtype, y) == y) list.push_back(y);
  const size_t positive = list.size();
  for (size_t i = 0; i < positive; ++i) list.push_back(-list[i]);
  list.push_back(std::nan(""));
  for (double& x : list) x = round_to(dtype, x);
  return list;
}

std::vector<int64_t> integer_edges(DType dtype) {
  std::vector<int64_t> list = {0, 1, -1, 2, -2, 3, 7, -7, 100, -100, lowest_integer(dtype), largest_integer(dtype)};
  for (const int64_t x : {lowest_integer(dtype), largest_integer(dtype)})
    for (const int64_t step : {-1, 1, 2}) list.push_back(wrapping(pattern(x) + pattern(step)));
  // Neighbours of the limits of narrower types, and what is half way between two floating values, or just above.
  for (const int64_t x :
       {int64_t{127}, int64_t{255}, int64_t{32768}, int64_t{65535}, int64_t{1} << 24, int64_t{1} << 31,
        int64_t{1} << 53, (int64_t{1} << 24) + (int64_t{1} << 16), (int64_t{1} << 60) + (int64_t{1} << 36)})
    for (const int64_t step : {-1, 0, 1}) list.push_back(wrapping(pattern(x) + pattern(step)));
  for (int64_t& x : list) x = wrap_to(dtype, x);
  return list;
}

}  // namespace

Tensor edge_values(DType dtype) {
  if (dtype == DType::boolean) return all_values(dtype);
  Tensor t;
  t.type = {dtype, {0}};
  if (is_floating(dtype))
    t.real = floating_edges(dtype);
  else
    t.integer = integer_edges(dtype);
  t.type.dims[0] = static_cast<int64_t>(t.real.size() + t.integer.size());
  return t;
}

std::vector<Tensor> combinations(const std::vector<Tensor>& values) {
  int64_t count = 1;
  for (const Tensor& t : values) count *= t.elements();
  std::vector<Tensor> all;
  int64_t period = 1;
  for (const Tensor& t : values) {
    Tensor& column = all.emplace_back(Type{t.type.dtype, {count}});
    for (int64_t i = 0; i < count; ++i) column.copy(i, t, i / period % t.elements());
    period *= t.elements();
  }
  return all;
}

Tensor all_values(DType dtype) {
  const int64_t count = dtype == DType::boolean ? 2 : int64_t{1} << bits(dtype);
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t shift = 0; shift < bits(dtype); shift += 8) bytes.push_back(static_cast<std::byte>(i >> shift & 255));
  return from_bytes({dtype, {count}}, bytes);
}

bool same_element(const Tensor& a, const Tensor& b, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if (!a.floating()) return a.integer[at] == b.integer[at];
  const double x = a.real[at], y = b.real[at];
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}

}  // namespace heddle::testing
