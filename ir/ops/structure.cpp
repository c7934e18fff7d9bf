// Operators of the IR's own: the gradient that differentiate replaces, and the call of an outlined kernel.
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

RegisterOp gradient({
    .name = "gradient",
    .doc = "the derivative of a scalar loss with respect to w; replaced by the pass differentiate",
    .operands = {"loss", "w"},
    .dtypes = kFloating,
    .kind = Gradient{},
    .infer = [](const Signature& s) -> std::vector<Type> {
      if (s.operands[0].rank() != 0) throw InferError("expected a scalar loss, got " + to_string(s.operands[0]));
      if (!is_floating(s.operands[1].dtype)) throw InferError("cannot differentiate by " + to_string(s.operands[1]));
      return {s.operands[1]};
    },
    .no_gradient = "differentiate replaces gradient operators in order, so none is left to differentiate",
});

RegisterOp call({
    .name = "call",
    .doc = "runs an outlined kernel",
    .operands = {},
    .variadic = true,
    .results = {},
    .attrs = {{.name = "workspace_at",
               .doc = "arena offset of the kernel's workspace, once planned",
               .fallback = int64_t{-1}}},
    .kind = Call{},
    .no_gradient = "kernels are outlined after differentiation",
});

}  // namespace
}  // namespace heddle::ir
