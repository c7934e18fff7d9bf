#include "ir/ops/elementwise.h"

namespace heddle::ir {

std::vector<Sample> samples_around(int operands, double low1, double high1, double low2, double high2) {
  const std::vector<Dims> shapes = {{4, 33}, {1}, {}, {3, 1, 5}, {64}, {2, 7, 3}};
  std::vector<Sample> samples;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool first = i % 2 == 0;
    samples.push_back({.shapes = std::vector<Dims>(static_cast<size_t>(operands), shapes[i]),
                       .low = first ? low1 : low2,
                       .high = first ? high1 : high2});
  }
  return samples;
}

std::vector<Sample> samples_between(int operands, double low, double high) {
  return samples_around(operands, low, high, low, high);
}

std::function<Grads(Builder&, const Node&, const Values&)> gradient_of(Gradient1 grad) {
  return [grad](Builder& b, const Node& n, const Values& dy) -> Grads {
    return {grad({b, n.operands[0]}, {b, n.results[0]}, {b, dy[0]})};
  };
}

std::function<Grads(Builder&, const Node&, const Values&)> gradient_of(Gradient2 grad) {
  return [grad](Builder& b, const Node& n, const Values& dy) -> Grads {
    return grad({b, n.operands[0]}, {b, n.operands[1]}, {b, n.results[0]}, {b, dy[0]});
  };
}

OpDef unary_op(const std::string& name, const std::string& doc, const std::string& expr, double (*eval)(double),
               Gradient1 grad, std::vector<Sample> samples, double flops, const Traits& traits) {
  return {.name = name,
          .doc = doc,
          .operands = {"x"},
          .dtypes = kFloating,
          .kind = Elementwise{expr},
          .traits = traits,
          .infer = same_type,
          .eval = eval_real([eval](std::span<const double> x, const Signature&) { return eval(x[0]); }),
          .grad = gradient_of(grad),
          .flops = flops,
          .samples = std::move(samples)};
}

OpDef binary_op(const std::string& name, const std::string& doc, const std::string& expr, Eval eval, Gradient2 grad,
                std::vector<Sample> samples, const Traits& traits) {
  return {.name = name,
          .doc = doc,
          .operands = {"a", "b"},
          .dtypes = kArithmetic,
          .kind = Elementwise{expr},
          .traits = traits,
          .infer = same_type,
          .eval = std::move(eval),
          .grad = gradient_of(grad),
          .samples = std::move(samples)};
}

}  // namespace heddle::ir
