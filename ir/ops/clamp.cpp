#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An integer attribute value in an integer operand's dtype, if it is one.
bool representable(double limit, DType dtype) {
  if (limit < 0 && !is_signed(dtype)) return false;  // a u64's bit pattern would pass for one
  return std::abs(limit) < 0x1p53 && static_cast<double>(wrap_to(dtype, static_cast<int64_t>(limit))) == limit;
}

std::vector<Type> infer(const Signature& s) {
  const double low = s.real("low"), high = s.real("high");
  const DType dtype = s.operands[0].dtype;
  if (!(low <= high)) throw InferError(fmt::format("low = {} is above high = {}", low, high));
  if (is_integer(dtype) && !(representable(low, dtype) && representable(high, dtype)))
    throw InferError(fmt::format("limits {} and {} are not both values of {}", low, high, to_string(dtype)));
  return same_type(s);
}

double clamped(std::span<const double> x, const Signature& s) {
  if (x[0] < s.real("low")) return s.real("low");
  return x[0] > s.real("high") ? s.real("high") : x[0];
}

int64_t clamped_integer(std::span<const int64_t> x, const Signature& s) {
  const auto low = static_cast<int64_t>(s.real("low")), high = static_cast<int64_t>(s.real("high"));
  if (integer_less(x[0], low, s)) return low;
  return integer_less(high, x[0], s) ? high : x[0];
}

Grads gradient(Builder& b, const Node& n, const Values& dy) {
  const Expr x{b, n.operands[0]}, g{b, dy[0]};
  const double low = std::get<double>(attribute(*n.op, n.attrs, "low"));
  const double high = std::get<double>(attribute(*n.op, n.attrs, "high"));
  const Expr below_high = select(apply("lt", x, high), g, 0);
  return {select(apply("gt", x, low), below_high, 0)};
}

// Of integers that are held to [0, high].
int64_t places_below(const Signature& s) {
  if (!is_integer(s.operands[0].dtype) || s.real("low") < 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(s.real("high")) + 1;
}

Sample sample(const Dims& dims, double low, double high) {
  return {.shapes = {dims}, .attrs = {{"low", -1.0}, {"high", 2.0}}, .low = low, .high = high};
}

const RegisterOp op(
    {.name = "clamp",
     .doc = "min(max(x, low), high); nan stays nan. The limits themselves pass no gradient, as in PyTorch.",
     .operands = {"x"},
     .attrs = {{.name = "low", .type = KeyType::real, .doc = "smallest result", .fallback = -kInfinity},
               {.name = "high", .type = KeyType::real, .doc = "largest result", .fallback = kInfinity}},
     .dtypes = kArithmetic,
     .kind = Elementwise{"hd::min(hd::max(x, T(low)), T(high))"},
     .infer = infer,
     .eval = eval_either(clamped, clamped_integer),
     .grad = gradient,
     .below = places_below,
     .flops = 2,
     .samples = {sample({4, 33}, -0.9, 1.9), sample({1}, -3, -1.1), sample({}, 2.1, 4), sample({3, 1, 5}, -0.9, 1.9),
                 sample({64}, -4, -1.1), sample({2, 7, 3}, 2.1, 5)}});

}  // namespace
}  // namespace heddle::ir
