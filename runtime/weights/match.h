// Whether the weights of a file are a model's: its names, types, shapes and values.
//
//   require_match({"fc.weight": f32[3,4]}, program)   ->   nothing, or one error for each difference
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Throws UserError when a parameter is absent, has another type or shape, or the file holds one that the model lacks.
// Those in `missing` may be absent.
void require_match(const WeightsFile& file, const codegen::Program& program, const std::set<std::string>& missing = {});
// Whether a tensor of this type becomes the buffer: of its own, or of f32 where that is bf16. Those are rounded to the
// nearest as they are loaded.
bool takes_type(const codegen::Buffer& b, const std::string& dtype);
// Of a file that matches: throws UserError for nan, infinities, what becomes one in bf16, and variances below 0.
void require_values(const WeightsFile& file, const codegen::Program& program);

// "did you mean 'b.fc.bias'?": of names that end alike the one with the nearest path; "" where none is near.
std::string did_you_mean_path(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace heddle::runtime
