// The int8 weights of a file (runtime/weights/quantize.h) for products of whole numbers (passes/int8_products.h).
//
//   {"fc.weight": f32[128,784], which was int8, its inputs 0 to 5.5}
//     int8_weights     ->  {fc.weight, scales along axis 0, inputs u8}: what CompileOptions::int8 takes
//     put_int8         ->  {"fc.weight": i8[128,784], "fc.weight.int8_scale": f32[128], "fc.weight.int8_input": f32[]}
//
// Which of them the program takes as whole numbers is the compiler's choice: its states say it.
#pragma once
#include <string>
#include <vector>

#include "codegen/program.h"
#include "frontend/model.h"
#include "ir/kernel/target.h"
#include "passes/int8_products.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

struct Int8Weights {
  std::vector<passes::Int8Weight> weights;
  std::string note;  // why there are none, where the file has some; else empty
};
Int8Weights int8_weights(const runtime::WeightsFile& file, const ir::Target& target);
// Puts the whole numbers and their scales in the place of those weights that the program has as i8. Throws UserError where
// one of these is not int8 in the file.
void put_int8(runtime::WeightsFile& file, const codegen::Program& program);
// What quantised weights hold is no bf16: the model that uses them stores its parameters in f32.
void read_as_quantized(frontend::Model& model, const runtime::WeightsFile& file);
// "2 of the int8 weights are multiplied in int8, which is predicted to be faster (conv2.weight, fc.weight); ...", or ""
// where the program has none. A model with train.quantize is computed as it was trained, faster or not.
std::string told_of_int8(const codegen::Program& program, const frontend::Model& model);

}  // namespace heddle::driver
