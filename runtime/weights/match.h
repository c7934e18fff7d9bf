// Checks that the weights of a file fit a model: names, types, shapes and values.
//
//   require_match({"fc.weight": f32[3,4]}, program)   ->   nothing, or one error for each difference
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// Throws UserError when a parameter is absent or has another type or shape, or when the file holds one that the model
// lacks. Parameters in `missing` may be absent.
void require_match(const WeightsFile& file, const codegen::Program& program, const std::set<std::string>& missing = {});
// Whether a tensor of this type fits the buffer: the buffer's own type, or f32 for a buffer of bf16. Such a tensor is
// rounded to nearest when it is loaded.
bool takes_type(const codegen::Buffer& b, const std::string& dtype);
// For a file that matches: throws UserError at nan, infinities, numbers that become infinite in bf16, and negative
// variances.
void require_values(const WeightsFile& file, const codegen::Program& program);

// Returns "did you mean 'b.fc.bias'?": among candidates with the same last part, the one with the nearest path; ""
// where none is near.
std::string did_you_mean_path(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace heddle::runtime
