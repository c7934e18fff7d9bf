#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/mixed_precision.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) {
  const double rate = s.real("rate");
  if (!(rate >= 0 && rate <= 1)) throw InferError(fmt::format("rate is {}, expected 0 to 1", real_text(rate)));
  for (size_t i = 1; i < 3; ++i)
    if (s.operands[i] != Type{DType::i64, {}})
      throw InferError(fmt::format("{} is {}, expected i64[]", i == 1 ? "seed" : "step", to_string(s.operands[i])));
  return {s.operands[0]};
}

double kept_scale(double rate) { return rate < 1 ? 1 / (1 - rate) : 0; }

// random_uniform keyed like the node's: f32 whatever x is, so that a mask does not depend on the precision.
Attrs random_attrs(const Signature& s) { return {{"shape", s.operands[0].dims}, {"stream", s.integer("stream")}}; }

Values decomposition(Builder& b, const Node& n) {
  const Signature s = signature(b.graph, n);
  const ValueId x = n.operands[0];
  const ValueId uniform = b("random_uniform", {n.operands[1], n.operands[2]}, random_attrs(s));
  const ValueId keep = b("ge", {uniform, b.like(s.real("rate"), uniform)});
  const ValueId scaled = b("mul", {x, b.like(kept_scale(s.real("rate")), x)});
  return {b("select", {keep, scaled, b.like(0, x)})};
}

std::vector<Tensor> eval(const Signature& s, std::span<const Tensor* const> in) {
  const OpDef& random = op_def("random_uniform");
  const Signature uniform{.op = &random,
                          .attrs = random_attrs(s),
                          .operands = {s.operands[1], s.operands[2]},
                          .results = {{DType::f32, s.operands[0].dims}}};
  const std::vector<Tensor> u = random.eval(uniform, in.subspan(1));
  Tensor y(s.results[0]);
  // The generator's numbers are floats, and so is the threshold they are compared with.
  const double rate = round_to(DType::f32, s.real("rate"));
  for (size_t i = 0; i < y.real.size(); ++i)
    y.real[i] = u[0].real[i] < rate ? 0 : in[0]->real[i] / (1 - s.real("rate"));
  return {y};
}

// The backward pass draws the same numbers, so it drops the same elements of dy.
Grads grad(Builder& b, const Node& n, const Values& dy) {
  return {b("dropout", {dy[0], n.operands[1], n.operands[2]}, n.attrs), {}, {}};
}

Sample sample(const Dims& dims, double rate, int64_t stream) {
  return {.shapes = {dims, {}, {}},
          .attrs = {{"rate", rate}, {"stream", stream}},
          .below = 1000,
          .dtypes = {DType::f32, DType::i64, DType::i64}};
}

const RegisterOp dropout(
    {.name = "dropout",
     .doc = "y = x / (1 - rate) where random_uniform(seed, step) >= rate, else 0 (Srivastava et al. 2014, inverted)",
     .operands = {"x", "seed", "step"},
     .attrs = {{.name = "rate", .type = KeyType::real, .doc = "the share that is dropped, 0 to 1", .required = true},
               {.name = "stream",
                .type = KeyType::integer,
                .doc = "separates the masks of different nodes",
                .required = true}},
     .dtypes = kFloating,
     .kind = Composite{},
     .infer = infer,
     .eval = eval,
     .grad = grad,
     .decomposition = decomposition,
     .flops = 3,
     .samples = {sample({4, 10}, 0.5, 1), sample({7, 33}, 0.25, 2), sample({1}, 0.5, 3), sample({3, 1, 5}, 0, 4),
                 sample({2, 5, 5, 3}, 0.1, 5)}});

const StatesMixedPrecision follows({"dropout"}, MixedRule::follows);

}  // namespace
}  // namespace heddle::ir
