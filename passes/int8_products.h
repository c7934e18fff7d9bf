// int8_products: rewrites products and convolutions to int8 arithmetic where a weights file holds the weight as int8.
//
//   graph @predict(input %x: f32[64,784], param %w: f32[128,784]) {
//     %y: f32[64,128] = matmul(%x, %w) {transpose_b = true}
//   ->
//   graph @predict(input %x: f32[64,784], param %w: i8[128,784], buffer %w.int8_scale: f32[128], buffer %w.int8_input: f32[]) {
//     %q: u8[64,784] = cast(round(%x * (1 / %w.int8_input)))          inputs as whole numbers, to the nearest, half to even
//     %s: i32[64,128] = matmul(cast(%q), cast(%w)) {transpose_b = true}   of i32: exact
//     %y: f32[64,128] = cast(%s) * (%w.int8_input * %w.int8_scale)
//
// The rule is that of Jacob et al. 2018 (arXiv 1712.05877) without zero points. A cast to u8 or i8 saturates. If the
// range of the inputs is unknown, each row has its own scale: the largest magnitude of the row / 127. Integer sums are
// exact, so they have the same bits on every device. The f32 operators before and after the product fuse as usual.
//
// A quantized training (train.quantize) has already made the inputs and the weight whole numbers:
//
//     %q: f32[64,784] = round_within(...)                    ->   as it is, cast to u8 or i8
//     %k: f32[128,784], %s: f32[128] = quantize_weight(%w)   ->   %w: i8[128,784], %w.int8_scale: f32[128]
//     %y: f32[64,128] = matmul(%q, %k) {transpose_b = true}  ->   a product of i32
//
// The f32 product of whole numbers has the same bits as the int8 product while its sums stay below 2^24. So such
// products always become int8 where that is possible.
//
// Where few rows are multiplied, as in a program that writes text, reading the weight takes the time. There the inputs
// stay f32, and the weight is widened as it is read. It lies with its outputs first:
//
//     %y = matmul(%x, %w)        ->   %s = matmul(%x, cast(%w)) {transpose_b = true};  %y = %s * %w.int8_scale
//     %e = gather(%w, %ids)      ->   %e = cast(gather(%w, %ids)) * gather(%w.int8_scale, %ids)
//
// Any other product stays f32 if int8 is predicted to take longer. A weight is int8 in all graphs or in none. A library
// executes the integer product later (passes/select). The pass runs before all other passes.
#pragma once
#include <string>
#include <vector>

#include "passes/pass.h"

namespace heddle::passes {

// A weight that a file holds as int8. `axis` is the axis of its scales, in the shape of the file.
struct Int8Weight {
  // The inputs of its products: u8 or i8 with one scale for all of them, i8 with one scale per row, or as they are.
  enum class Input { fixed_unsigned, fixed_signed, by_row, f32 };
  std::string name;
  int64_t axis = 0;
  Input input = Input::by_row;
  bool operator==(const Int8Weight&) const = default;
};
// Returns whether it changed the module. A remark says for each weight why it is int8 or f32.
bool int8_products(ir::Module& m, const std::vector<Int8Weight>& weights, const Options& options);

// Adds states for calibration, two per weight: the smallest and the largest input that the weight has been multiplied
// with, over all runs of all graphs. The caller initializes them to infinity and -infinity. Their names are those of
// ir/int8.h. Returns the names of the weights that are observed. A weight is skipped if it has a reader other than a
// suitable product or convolution.
std::vector<std::string> observe_inputs(ir::Module& m, const std::vector<Int8Weight>& weights);

}  // namespace heddle::passes
