// Fold norms: in predictions, a scale and a shift of channels that parameters alone say, as a batch norm's are, go into the
// weights of the product before them.
//
//   graph @predict(input %x, param %w: f32[16,3,3,8], buffer %mean: f32[16], param %factor: f32[16], param %bias: f32[16]) {
//     %y: f32[2,6,6,16] = conv2d(%x, %w)
//     %n = add(mul(sub(%y, broadcast(%mean)), broadcast(%factor)), broadcast(%bias))
//   ->
//     %w.scaled: f32[16,3,3,8] = mul(%w, broadcast(%factor) {dims = [0]})
//     %shift: f32[16] = add(mul(neg(%mean), %factor), %bias)
//     %n = add(conv2d(%x, %w.scaled), broadcast(%shift))
//
// What is made of parameters alone is made once, by the pass `prepare`. A bias between the two is part of the shift. Where
// the product has another reader, or there is none, one scale and one shift take the place of longer chains. Sums are
// rounded at other places: results differ from those of evaluation by some units in their last places. So the pass runs on
// request only (Options::fold_norms). It changes graphs of predictions only, whose parameters no other graph renews.
//
// After simplify, which leaves products and norms side by side; before prepare.
#pragma once
#include <string_view>

#include "passes/pass.h"

namespace heddle::passes {

// How the remark of each scale begins that went into a weight.
inline constexpr std::string_view kFoldedInto = "its scale goes into ";

bool fold_norms(ir::Module& m, const Options& options);

}  // namespace heddle::passes
