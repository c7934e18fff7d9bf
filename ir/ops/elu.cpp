// elu, celu, selu: x above 0, a saturating exponential below.
#include <cmath>

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

// Both sides of the kink, with alpha = 1.5 in every third sample.
std::vector<Sample> samples() {
  std::vector<Sample> samples = samples_around(1, -2, -0.1, 0.1, 2);
  for (size_t i = 0; i < samples.size(); i += 3) samples[i].attrs["alpha"] = 1.5;
  return samples;
}

double alpha_of(const Node& n) { return std::get<double>(attribute(*n.op, n.attrs, "alpha")); }

// The slope of the exponential side is exp(x), computed as such: as y + alpha it would lose every
// digit at x = -20. It is 1 on the other side, so that nothing overflows there and no gradient of
// this gradient is 0 * inf.
Expr exp_below(const Expr& above, const Expr& x) { return apply("exp", select(above, 0, x)); }

OpDef op(const std::string& name, const std::string& doc, const std::string& expr, Eval eval,
         std::function<Grads(Builder&, const Node&, const Values&)> grad) {
  return {
      .name = name,
      .doc = doc,
      .operands = {"x"},
      .attrs =
          {{.name = "alpha", .type = KeyType::real, .doc = "minus the limit at -inf", .fallback = 1.0, .scalar = true}},
      .dtypes = kFloating,
      .kind = Elementwise{expr},
      .infer = same_type,
      .eval = std::move(eval),
      .grad = std::move(grad),
      .flops = 12,
      .samples = samples()};
}

const RegisterOp elu(op("elu", "x above 0, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015, arXiv:1511.07289)",
                        "x > T(0) ? x : T(alpha) * hd::expm1(x)",
                        eval_real([](std::span<const double> x, const Signature& s) {
                          return x[0] > 0 ? x[0] : s.real("alpha") * std::expm1(x[0]);
                        }),
                        [](Builder& b, const Node& n, const Values& dy) -> Grads {
                          const Expr x{b, n.operands[0]}, g{b, dy[0]}, above = apply("gt", x, 0);
                          const Expr below = g * (exp_below(above, x) * alpha_of(n));
                          return {select(above, g, below)};
                        }));

const RegisterOp celu(op("celu", "x above 0, alpha * (exp(x / alpha) - 1) elsewhere (Barron 2017, arXiv:1704.07483)",
                         "x > T(0) ? x : T(alpha) * hd::expm1(x / T(alpha))",
                         eval_real([](std::span<const double> x, const Signature& s) {
                           return x[0] > 0 ? x[0] : s.real("alpha") * std::expm1(x[0] / s.real("alpha"));
                         }),
                         [](Builder& b, const Node& n, const Values& dy) -> Grads {
                           const Expr x{b, n.operands[0]}, g{b, dy[0]}, above = apply("gt", x, 0);
                           const Expr below = g * exp_below(above, x / alpha_of(n));
                           return {select(above, g, below)};
                         }));

constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;

const RegisterOp selu(unary_op(
    "selu",
    "scale * x above 0, scale * alpha * (exp(x) - 1) elsewhere, alpha = 1.6732632423543772, scale = "
    "1.0507009873554805: "
    "keeps mean 0 and variance 1 (Klambauer et al. 2017, arXiv:1706.02515)",
    "T(1.0507009873554805) * (x > T(0) ? x : T(1.6732632423543772) * hd::expm1(x))",
    [](double x) { return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x)); },
    [](const Expr& x, const Expr&, const Expr& dy) {
      const Expr above = apply("gt", x, 0), linear = dy * kSeluScale;
      const Expr below = dy * (exp_below(above, x) * (kSeluScale * kSeluAlpha));
      return select(above, linear, below);
    },
    samples_around(1, 0.1, 2, -2, -0.1), 12));

}  // namespace
}  // namespace heddle::ir
