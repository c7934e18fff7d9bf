// round_stochastic: f32 to bf16 by a draw, so that the mean of many roundings is the number itself (Gupta et al. 2015,
// "Deep learning with limited numerical precision", arXiv:1502.02551).
#include <algorithm>
#include <cmath>

#include "ir/mixed_precision.h"
#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

constexpr double kLargest = 0x1.fep127;  // a bf16
constexpr int kFractionBits = 7, kLeastExponent = -126;
constexpr double kDraws = 65536;  // an f32 has 16 bits more than a bf16

// The distance between neighbours at a number that is not 0.
double gap(double magnitude) {
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), kLeastExponent) : kLeastExponent;
  return std::ldexp(1.0, exponent - kFractionBits);
}

double rounded(std::span<const double> in, const Signature&) {
  const double x = in[0], uniform = in[1], magnitude = std::abs(x);
  if (!(magnitude < kLargest)) return round_to(DType::bf16, x);
  const double draw = std::isnan(uniform) ? 0 : std::clamp(std::floor(uniform * kDraws), 0.0, kDraws - 1) / kDraws;
  const double units = magnitude / gap(magnitude), below = std::floor(units);
  const double away = units - below + draw >= 1 ? below + 1 : below;
  return std::copysign(away * gap(magnitude), x);
}

std::vector<Type> infer(const Signature& s) {
  if (s.operands[1] != s.operands[0])
    throw InferError("expected two operands of one type, got " + to_string(s.operands[0]) + " and " +
                     to_string(s.operands[1]));
  return {{DType::bf16, s.operands[0].dims}};
}

// Half of the draws are outside of [0, 1), and count as its ends.
std::vector<Sample> samples() {
  std::vector<Sample> all = samples_between(2, -1, 1);
  for (const Sample& s : samples_between(2, 0, 1)) all.push_back(s);
  return all;
}

const StatesMixedPrecision of_f32({"round_stochastic"}, MixedRule::wide);

const RegisterOp op({.name = "round_stochastic",
                     .doc = "x, an f32, as one of the two nearest bf16: the one away from 0 where its distance to the "
                            "other one, in 2^-16 of theirs, and floor(2^16 uniform) add up to 2^16 or more. `uniform` "
                            "is a number of [0, 1), of random_uniform: then the mean is x. What a bf16 holds stays; "
                            "beyond the largest one, and nan, as cast (Gupta et al. 2015, arXiv:1502.02551)",
                     .operands = {"x", "uniform"},
                     .dtypes = {DType::f32},
                     .kind = Elementwise{"hd::stochastic_bf16(x, uniform)"},
                     .traits = {.jumps = true},
                     .infer = infer,
                     .eval = eval_real(rounded),
                     .no_gradient = "it jumps from one bf16 to the next; straight_through gives it a gradient",
                     .flops = 6,
                     .samples = samples()});

}  // namespace
}  // namespace heddle::ir
