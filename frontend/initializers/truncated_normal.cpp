// truncated_normal, by torch.nn.init.trunc_normal_: the inverse of the normal distribution at uniform numbers.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <span>

#include "frontend/initializers/parts.h"

namespace heddle::frontend {

using ir::Builder;
using ir::ValueId;

namespace {

ValueId plus(Builder& b, ValueId x, double n) { return b("add", {x, b.like(n, x)}); }
ValueId times(Builder& b, ValueId x, double n) { return b("mul", {x, b.like(n, x)}); }

// Horner's rule, the largest power first.
ValueId polynomial(Builder& b, ValueId x, std::span<const double> coefficients) {
  ValueId sum = b.like(coefficients[0], x);
  for (const double c : coefficients.subspan(1)) sum = plus(b, b("mul", {sum, x}), c);
  return sum;
}

// The inverse error function in single precision: Giles 2010, "Approximating the erfinv function".
ValueId inverse_erf(Builder& b, ValueId x) {
  static constexpr double kNear[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                     -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                    -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const ValueId rest = b("mul", {plus(b, b("neg", {x}), 1), plus(b, x, 1)});
  const ValueId w = b("neg", {b("log", {rest})});
  const ValueId near = polynomial(b, plus(b, w, -2.5), kNear);
  const ValueId far = polynomial(b, plus(b, b("sqrt", {w}), -3), kFar);
  return b("mul", {b("select", {b("lt", {w, b.like(5, w)}), near, far}), x});
}

// The normal distribution from its middle, times 2: erf((at - mean) / (std sqrt(2))).
double share(double at, double mean, double deviation) {
  return std::erf((at - mean) / (deviation * std::numbers::sqrt2));
}

}  // namespace

ValueId truncated(Builder& b, const Random& random, double mean, double deviation, double low, double high) {
  const double from = share(low, mean, deviation), to = share(high, mean, deviation);
  constexpr double kLargest = 1 - 0x1p-24;  // at 1 the inverse is infinite
  const ValueId uniform = plus(b, times(b, random("random_uniform"), to - from), from);
  const ValueId drawn = b("clamp", {uniform}, {{"low", -kLargest}, {"high", kLargest}});
  const ValueId normal = plus(b, times(b, inverse_erf(b, drawn), deviation * std::numbers::sqrt2), mean);
  return b("clamp", {normal}, {{"low", low}, {"high", high}});
}

namespace {

ValueId build(Builder& b, const ir::Type&, const Initializer& init, const Random& random) {
  return truncated(b, random, init.values.at("mean"), init.values.at("std"), init.values.at("a"), init.values.at("b"));
}

void check(const Settings& s) {
  if (!(s.real("a") < s.real("b")))
    s.fail("a", fmt::format("'a' is {}, not below 'b', which is {}", s.real("a"), s.real("b")));
  const double mean = s.real("mean"), deviation = s.real("std");
  constexpr double kLeast = 1e-4;  // less of the distribution is too few of an f32's steps
  if (share(s.real("b"), mean, deviation) - share(s.real("a"), mean, deviation) < kLeast)
    s.fail("a", "less than a 20000th of the distribution lies between 'a' and 'b'");
}

const RegisterInitializer truncated_normal({
    .name = "truncated_normal",
    .doc = "normal distribution without what lies outside [a, b]",
    .settings = {{.name = "mean", .type = KeyType::real, .doc = "mean before the cut", .fallback = 0.0},
                 {.name = "std",
                  .type = KeyType::real,
                  .doc = "deviation before the cut",
                  .fallback = 1.0,
                  .range = ir::kAboveZero},
                 {.name = "a", .type = KeyType::real, .doc = "lower end", .fallback = -2.0},
                 {.name = "b", .type = KeyType::real, .doc = "upper end", .fallback = 2.0}},
    .build = build,
    .check = check,
});

}  // namespace
}  // namespace heddle::frontend
