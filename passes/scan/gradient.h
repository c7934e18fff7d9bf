// The gradient of a scan: a scan of its own, in the other direction.
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
// Adjoints of carries are carries, gradients of fixed operands accumulate as carries, those of slices are stacked. What
// the backward body needs of the forward turn is kept where it is an operand, computed again where it is elementwise of
// such values, and else one more stacked result of the forward scan. A scan inside of the body is run again by the
// backward turn, so that what it saves is needed for one turn at a time.
#pragma once
#include "passes/sweep.h"

namespace heddle::passes {

// One gradient per operand of the scan; invalid where none flows. `dy` has an adjoint per result or an invalid one. The
// scan itself may be replaced by one of more results.
ir::Grads scan_gradient(Sweep& sweep, ir::NodeId scan, const ir::Values& dy);

}  // namespace heddle::passes
