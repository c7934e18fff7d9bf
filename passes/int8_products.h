// int8_products: makes products and convolutions by weights that files hold as int8 ones of whole numbers.
//
//   graph @predict(input %x: f32[64,784], param %w: f32[128,784]) {
//     %y: f32[64,128] = matmul(%x, %w) {transpose_b = true}
//   ->
//   graph @predict(input %x: f32[64,784], param %w: i8[128,784], buffer %w.int8_scale: f32[128], buffer %w.int8_input: f32[]) {
//     %q: u8[64,784] = cast(round(%x * (1 / %w.int8_input)))          inputs as whole numbers, to the nearest, half to even
//     %s: i32[64,128] = matmul(cast(%q), cast(%w)) {transpose_b = true}   of i32: exact
//     %y: f32[64,128] = cast(%s) * (%w.int8_input * %w.int8_scale)
//
// The rule is that of Jacob et al. 2018 (arXiv 1712.05877) without zero points. A cast to u8 or i8 saturates. Where no range
// of the inputs is known, each row has its own scale, the largest magnitude of the row / 127. What is a whole number has
// the same bits wherever it is computed; what makes it and what follows is f32 as elsewhere, and fuses as elsewhere.
//
// A training in fewer bits (train.quantize) has made the inputs and the weight whole numbers already:
//
//     %q: f32[64,784] = round_within(...)                    ->   as it is, cast to u8 or i8
//     %k: f32[128,784], %s: f32[128] = quantize_weight(%w)   ->   %w: i8[128,784], %w.int8_scale: f32[128]
//     %y: f32[64,128] = matmul(%q, %k) {transpose_b = true}  ->   a product of i32
//
// The product of f32 has the same bits as long as its sums stay below 2^24, so these are int8 wherever they can be.
//
// Where it is predicted to take longer than f32, another product stays as it is, and its weight stays f32: a weight is one or
// the other in all graphs. A library takes the whole-number product later (passes/select). Before all other passes.
#pragma once
#include <string>
#include <vector>

#include "passes/pass.h"

namespace heddle::passes {

// A weight of a file. `axis`: of its scales, in the shape that files have.
struct Int8Weight {
  enum class Input {
    fixed_unsigned,
    fixed_signed,
    by_row
  };  // a scale for all inputs, as u8 or i8, or one for each row
  std::string name;
  int64_t axis = 0;
  Input input = Input::by_row;
  bool operator==(const Int8Weight&) const = default;
};
bool int8_products(ir::Module& m, const std::vector<Int8Weight>& weights, const Options& options);

// The names of states beside weights are those of ir/int8.h.
//
// For calibration: states beside the weights that hold the smallest and the largest number that each is multiplied with in
// all runs of all graphs. They are to begin with infinity and -infinity. Returns the weights that have them: what else
// reads a weight than a product or a convolution is not observed.
std::vector<std::string> observe_inputs(ir::Module& m, const std::vector<Int8Weight>& weights);

}  // namespace heddle::passes
