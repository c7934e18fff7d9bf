// Operators that return their first operand and redirect or stop its gradient. `differentiate` removes them.
#include "ir/gradient_flow.h"

#include "ir/ops/elementwise.h"

namespace heddle::ir {
namespace {

double first(std::span<const double> x, const Signature&) { return x[0]; }

double real_of(const Node& n, std::string_view name) { return std::get<double>(attribute(*n.op, n.attrs, name)); }

std::vector<Sample> with(std::vector<Sample> samples, const Attrs& attrs) {
  for (Sample& sample : samples) sample.attrs = attrs;
  return samples;
}

const RegisterGradientFlow stop({.name = "stop_gradient",
                                 .doc = "x, of which no gradient is asked: it counts as a constant (detach)",
                                 .operands = {"x"},
                                 .dtypes = kFloating,
                                 .kind = Elementwise{"x"},
                                 .infer = same_type,
                                 .eval = eval_real(first),
                                 .grad = no_flow,
                                 .flops = 0,
                                 .samples = samples_between(1, -2, 2)},
                                {.to = GradientFlow::kNothing});

const RegisterGradientFlow straight({.name = "straight_through",
                                     .doc = "forward; the whole gradient goes to backward, as if it were that "
                                            "(the straight-through estimator, Bengio et al. 2013, arXiv 1308.3432)",
                                     .operands = {"forward", "backward"},
                                     .dtypes = kFloating,
                                     .kind = Elementwise{"forward"},
                                     .infer = same_type,
                                     .eval = eval_real(first),
                                     .grad = [](Builder&, const Node&, const Values& dy) -> Grads {
                                       return {ValueId{}, dy[0]};
                                     },
                                     .flops = 0,
                                     .samples = samples_between(2, -2, 2)},
                                    {.to = 1});

const RegisterGradientFlow scale(
    {.name = "scale_gradient",
     .doc = "x, whose gradient is `scale` times what arrives; -1 turns it round "
            "(gradient reversal, Ganin et al. 2016, arXiv 1505.07818)",
     .operands = {"x"},
     .attrs = {{.name = "scale", .type = KeyType::real, .doc = "the factor", .required = true}},
     .dtypes = kFloating,
     .kind = Elementwise{"x"},
     .infer = same_type,
     .eval = eval_real(first),
     .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
       const Expr g{b, dy[0]};
       return {real_of(n, "scale") * g};
     },
     .flops = 0,
     .samples = with(samples_between(1, -2, 2), {{"scale", -0.5}})});

// Checks of IR text beyond the range of the key.
std::vector<Type> infer_clip(const Signature& s) {
  if (!(s.real("limit") > 0)) throw InferError("expected a limit above 0");
  return same_type(s);
}

const RegisterGradientFlow clip({.name = "clip_gradient",
                                 .doc = "x, each element of whose gradient is clamped to [-limit, limit]",
                                 .operands = {"x"},
                                 .attrs = {{.name = "limit",
                                            .type = KeyType::real,
                                            .doc = "the largest magnitude",
                                            .required = true,
                                            .range = kAboveZero}},
                                 .dtypes = kFloating,
                                 .kind = Elementwise{"x"},
                                 .infer = infer_clip,
                                 .eval = eval_real(first),
                                 .grad = [](Builder& b, const Node& n, const Values& dy) -> Grads {
                                   const double limit = real_of(n, "limit");
                                   return {b("clamp", {dy[0]}, {{"low", -limit}, {"high", limit}})};
                                 },
                                 .flops = 0,
                                 .samples = with(samples_between(1, -2, 2), {{"limit", 0.25}})});

}  // namespace
}  // namespace heddle::ir
