// The gradient of a scan: another scan, which runs in the opposite direction.
//
//   body @f(fixed %w, carry %h, slice %x) {            body @f.backward(fixed %w, slice %h, carry %h.grad,
//     %p = mul(%h, %w)                                                  carry %w.grad, slice %x) {
//     %n = add(%p, %x)                           ->      %g = mul(%h.grad, %h)
//     update %h <- %n                                    %s = add(%w.grad, %g)
//     return                                             %d = mul(%h.grad, %w)
//   }                                                    update %h.grad <- %d, update %w.grad <- %s
//                                                        return %h.grad             (the rows of %x's gradient)
//                                                      }
//
// Adjoints of carries are carries. Gradients of fixed operands accumulate in carries. Gradients of slices are stacked.
// The backward body also reads values of the forward turn. It takes operands of the scan as they are, and computes
// elementwise functions of available values again. For any other value the forward scan gets one more stacked result. A
// scan inside of the body runs again in the backward turn, so that the values it saves exist for one turn at a time.
#pragma once
#include "passes/sweep.h"

namespace heddle::passes {

// Returns one gradient per operand of the scan; invalid where no derivative flows. `dy` has one entry per result,
// invalid if the result has no adjoint. The function may replace the scan by one with more results.
ir::Grads scan_gradient(Sweep& sweep, ir::NodeId scan, const ir::Values& dy);

}  // namespace heddle::passes
