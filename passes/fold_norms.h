// Fold norms: in predictions, moves a scale and a shift of channels, such as those of batch norm, into the weights of
// the product before them. The scale and the shift must depend on parameters alone.
//
//   graph @predict(input %x, param %w: f32[16,3,3,8], buffer %mean: f32[16], param %factor: f32[16], param %bias: f32[16]) {
//     %y: f32[2,6,6,16] = conv2d(%x, %w)
//     %n = add(mul(sub(%y, broadcast(%mean)), broadcast(%factor)), broadcast(%bias))
//   ->
//     %w.scaled: f32[16,3,3,8] = mul(%w, broadcast(%factor) {dims = [0]})
//     %shift: f32[16] = add(mul(neg(%mean), %factor), %bias)
//     %n = add(conv2d(%x, %w.scaled), broadcast(%shift))
//
// The pass `prepare` then computes the scaled weights and the shift once. A bias between product and norm becomes part
// of the shift. If the product has other readers, or there is no product, a longer chain becomes one scale and one
// shift. Rounding happens at other places, so results differ from evaluation by some units in the last place. Therefore
// the pass runs on request only (Options::fold_norms). It changes prediction graphs only, and uses only parameters that
// no other graph updates.
//
// The pass runs after simplify, which leaves products and norms side by side, and before prepare.
#pragma once
#include <string_view>

#include "passes/pass.h"

namespace heddle::passes {

// The start of the remark on each scale that was folded into a weight.
inline constexpr std::string_view kFoldedInto = "its scale goes into ";

bool fold_norms(ir::Module& m, const Options& options);

}  // namespace heddle::passes
