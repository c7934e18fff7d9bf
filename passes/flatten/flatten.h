// Flatten: stores parameters that are updated alike end to end in one flat state, and updates them together.
//
//   graph @train(param %a: f32[4,8], param %b: f32[8], ...) {       group @params {
//     ...                                                             param %a: f32[4,8] at 0
//     %a.next: f32[4,8] = sub(%a, %a.step)                            param %b: f32[8] at 32
//     %b.next: f32[8] = sub(%b, %b.step)                     ->     }
//     update %a <- %a.next                                          graph @train(param %params: f32[40], ...) {
//     update %b <- %b.next                                            %a: f32[4,8] = reshape(slice(%params))
//                                                                     %params.grad = concat(%a.grad, %b.grad)
//                                                                     %params.next = sub(%params, %params.step)
//                                                                     update %params <- %params.next
//
// States of the optimizer are flattened like their parameters: %a.m and %b.m lie in %params.m. The clipping norm of all
// gradients becomes the norm of the flat gradient. Parameters with another update (for example, vectors without decay)
// form another group. A parameter whose update no other one has stays as it is. Every graph of the module is rewritten,
// because they share the states. Members are sorted by the power of two that divides their bytes, so that each member
// whose size is a multiple of 16 bytes starts at a multiple of 16 bytes. The pass runs after differentiate, which makes
// the gradients, and before decompose, while the norm is still one operator. The meaning is preserved up to
// ir::flatten_states.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool flatten(ir::Module& m, const Options& options);

}  // namespace heddle::passes
