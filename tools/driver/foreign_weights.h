// Translates weights of other programs into a model's parameters, by the model's table (section `weights`).
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

// A key of the metadata of weights that a model with a table has saved: the names are the model's.
constexpr const char* kOwnNames = "heddle.own_names";

struct Translated {
  std::set<std::string> missing;  // parameters that the file lacks and the table allows to be missing
  std::string note;               // which tensors are left out, or get initial values; mostly empty
};

// Renames, transposes, splits and joins the tensors of the file. A file with the model's own names is not changed; the
// table then only says what may be missing. Throws UserError at the table where a tensor becomes no parameter, or where
// a parameter that is not one of `copies` gets no tensor.
Translated translate(runtime::WeightsFile& file, const frontend::WeightsTable& table, const codegen::Program& program,
                     const std::vector<frontend::PlannedCopy>& copies);

}  // namespace heddle::driver
