// Weights of other programs under the names of a model's parameters, by the model's table (section `weights`).
//
//   {"h.0.attn.c_attn.weight": f32[768,2304]} by "h.{i}.attn.c_attn.{p}": {"to": "h.{i}.qkv.{p}", "transpose": true}
//     -> {"h.0.qkv.weight": f32[2304,768]}
#pragma once
#include <set>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "frontend/model.h"
#include "frontend/training/training_plan.h"
#include "runtime/weights/safetensors.h"

namespace heddle::driver {

// In the metadata of weights that a model with a table saves: their names are its own.
constexpr const char* kOwnNames = "heddle.own_names";

struct Translated {
  std::set<std::string> missing;  // parameters that the file lacks, and the table allows to be missing
  std::string note;               // what is left out, or begins otherwise; mostly empty
};

// Renames, turns, cuts and joins the tensors of the file in place. A file of the model's own names stays as it is: the table
// says of it only what may be missing. Throws UserError at the table where a tensor becomes no parameter, or a parameter
// that is none of the `copies` no tensor.
Translated translate(runtime::WeightsFile& file, const frontend::WeightsTable& table, const codegen::Program& program,
                     const std::vector<frontend::PlannedCopy>& copies);

}  // namespace heddle::driver
