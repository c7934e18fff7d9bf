// Flatten: lays parameters that are updated alike end to end in one flat state, and updates them as one.
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
// An optimizer's states go with their parameter: %a.m and %b.m lie in %params.m. The clipping norm
// of all gradients becomes that of the flat one. Parameters that are updated otherwise (no decay on
// vectors, say) make a group of their own, or stay as they are when they are alone. Every graph of
// the module is rewritten, so that they share the states. Members are ordered by the power of two
// that divides their bytes, so that all those of a multiple of 16 bytes begin at one. After
// differentiate, which makes the gradients; before decompose, while the norm is still one operator.
// Meaning is preserved up to ir::flatten_states.
#pragma once
#include "passes/pass.h"

namespace heddle::passes {

bool flatten(ir::Module& m, const Options& options);

}  // namespace heddle::passes
