#include "ir/builder.h"
#include "ir/ops/shape.h"

namespace heddle::ir {
namespace {

std::vector<Type> infer(const Signature& s) { return {s.operands[0]}; }

// The first map has no guard, so no element is ever read by the second one.
std::vector<IndexMap> maps(const Signature& s) {
  const Dims& dims = s.operands[0].dims;
  IndexMap second{.extents = dims, .results = {}, .guards = {}};
  second.results.assign(s.operands[1].dims.size(), IndexExpr(0));
  return {identity_map(dims), second};
}

std::vector<Tensor> eval(const Signature& /*s*/, std::span<const Tensor* const> operands) { return {*operands[0]}; }

const RegisterOp op({.name = "ordered_after",
                     .doc = "x, known no sooner than `earlier`, of which nothing is read",
                     .operands = {"x", "earlier"},
                     .kind = Movement{maps},
                     .infer = infer,
                     .eval = eval,
                     .grad = [](Builder&, const Node&, const Values& dy) -> Grads {
                       return {dy[0], ValueId{}};
                     },
                     .flops = 0,
                     .samples = {{.shapes = {{4, 33}, {3}}},
                                 {.shapes = {{1}, {1}}},
                                 {.shapes = {{7}, {}}},
                                 {.shapes = {{3, 1, 5}, {2, 2}}},
                                 {.shapes = {{2, 9}, {2, 9}}}}});

}  // namespace
}  // namespace heddle::ir
