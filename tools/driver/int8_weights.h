// Passes the int8 weights of a file (runtime/weights/quantize.h) to integer products (passes/int8_products.h).
//
//   {"fc.weight": f32[128,784], which was int8, its inputs 0 to 5.5}
//     int8_weights     ->  {fc.weight, scales along axis 0, inputs u8}: what CompileOptions::int8 takes
//     put_int8         ->  {"fc.weight": i8[128,784], "fc.weight.int8_scale": f32[128], "fc.weight.int8_input": f32[]}
//
// The compiler chooses which of them the program multiplies as integers; the program's states tell the choice.
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
  std::string note;  // why `weights` is empty although the file has int8 weights; else empty
};
Int8Weights int8_weights(const runtime::WeightsFile& file, const ir::Target& target);
// The same for a program that writes text: the weights are read as int8, and products compute in f32.
Int8Weights int8_weights_to_read(const runtime::WeightsFile& file, const ir::Target& target);
// Replaces the weights that the program has as i8 by their integers and scales. Throws UserError where one of these is
// not int8 in the file.
void put_int8(runtime::WeightsFile& file, const codegen::Program& program);
// Quantised weights are no bf16: makes the model that uses them store its parameters in f32.
void read_as_quantized(frontend::Model& model, const runtime::WeightsFile& file);
// A note: "2 of the int8 weights are multiplied in int8, which is predicted to be faster (conv2.weight, fc.weight);
// ..."; "" where the program has none. A model with train.quantize is always computed as it was trained.
std::string told_of_int8(const codegen::Program& program, const frontend::Model& model);
// For a program that writes text: "9 of the int8 weights stay int8 in the program ...; ..."
std::string told_of_int8_read(const codegen::Program& program);

}  // namespace heddle::driver
