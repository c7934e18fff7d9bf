// Operators of the IR's own: the gradient that differentiate replaces, the call of an outlined kernel, and the scan of a
// body.
#include "ir/op_def.h"

namespace heddle::ir {
namespace {

RegisterOp gradient({
    .name = "gradient",
    .doc = "the derivative of the loss, or of the sum of a column's elements, with respect to w; replaced by the pass "
           "differentiate",
    .operands = {"loss", "w"},
    .dtypes = kFloating,
    .kind = Gradient{},
    .infer = [](const Signature& s) -> std::vector<Type> {
      const Type& loss = s.operands[0];
      const bool column = loss.rank() == 1 || (loss.rank() == 2 && loss.dims[1] == 1);
      if (loss.rank() != 0 && !column) throw InferError("expected a scalar loss or a column, got " + to_string(loss));
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

RegisterOp scan({
    .name = "scan",
    .doc = "runs a body `count` times, each turn on what the one before has left in the carries (ir/scan.h)",
    .operands = {},
    .variadic = true,
    .results = {},
    .attrs = {{.name = "count", .type = KeyType::integer, .doc = "how many turns", .required = true},
              {.name = "reverse",
               .type = KeyType::flag,
               .doc = "whether the first turn takes the last slices",
               .fallback = false},
              {.name = "apart",
               .type = KeyType::flag,
               .doc = "whether turns stay apart so that memory holds one: no product is made of all of them at once",
               .fallback = false},
              {.name = "workspace_at",
               .doc = "arena offset of the body's memory, once planned",
               .fallback = int64_t{-1}}},
    .kind = Scan{},
    .no_gradient = "differentiate makes a scan of its own for it",
});

}  // namespace
}  // namespace heddle::ir
