// floor, ceil, round, is_nan: step functions. No gradient flows through the first three: it is zero wherever it exists.
#include <cmath>

#include "ir/ops/elementwise.h"
#include "ir/ops/half_to_even.h"

namespace heddle::ir {

double half_to_even(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest < 0.5 || std::isnan(rest)) return below == 0 ? std::copysign(below, x) : below;
  const double up = rest > 0.5 || std::fmod(below, 2) != 0 ? below + 1 : below;
  return std::copysign(up, x);
}

namespace {

OpDef step(const std::string& name, const std::string& doc, const std::string& expr, double (*eval)(double)) {
  return {.name = name,
          .doc = doc + ". Its gradient is zero.",
          .operands = {"x"},
          .dtypes = kFloating,
          .kind = Elementwise{expr},
          .traits = {.jumps = true},
          .infer = same_type,
          .eval = eval_real([eval](std::span<const double> x, const Signature&) { return eval(x[0]); }),
          .grad = no_flow,
          .samples = samples_around(1, 0.6, 0.9, -3.4, -3.1)};
}

const RegisterOp floor_op(step("floor", "the largest integral value not above x", "hd::floor(x)",
                               [](double x) { return std::floor(x); }));
const RegisterOp ceil_op(step("ceil", "the smallest integral value not below x", "hd::ceil(x)",
                              [](double x) { return std::ceil(x); }));
const RegisterOp round_op(step("round", "the nearest integral value, halves to the even one", "hd::rint(x)",
                               half_to_even));

const RegisterOp is_nan({.name = "is_nan",
                         .doc = "whether x is not a number",
                         .operands = {"x"},
                         .dtypes = kFloating,
                         .kind = Elementwise{"hd::is_nan(x)"},
                         .infer = same_shape_bool,
                         .eval = eval_real([](std::span<const double> x, const Signature&) {
                           return x[0] != x[0] ? 1.0 : 0.0;
                         }),
                         .no_gradient = "its result is a truth value",
                         .samples = samples_between(1, -1, 1)});

}  // namespace
}  // namespace heddle::ir
