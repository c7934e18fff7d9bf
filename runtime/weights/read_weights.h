// Weights as a model takes them, from files as other programs write them: tensors of f16, bf16 and f64 become f32,
// those of quantised files (runtime/weights/quantize.h) too, and a prefix of the names is taken off where it is asked
// for. Several files are given by their index.
//
//   {"module.w": f16[2]}, prefix "module." -> {"w": f32[2]}, note "a.safetensors: 1 tensor becomes f32: 1 from f16 (w)"
#pragma once
#include <string>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// What the metadata of a checkpoint hold, and those of no other file.
constexpr const char* kCheckpointMark = "heddle.checkpoint";

struct ReadWeights {
  WeightsFile file;
  std::string note;  // what was converted; empty where nothing was
};

// Throws UserError: where the file is none or a checkpoint, where no name has the prefix or two
// become one, and where a finite number is beyond what f32 holds: "FILE: 'w': element 3 is 1e+300,
// ...".
// `stores_bf16`: of tensors of bf16 nothing is told, which the model holds as they are in the file.
ReadWeights read_weights(const std::string& path, const std::string& prefix = {}, bool stores_bf16 = false);
// The same of a file that has been read, as it is named: its types alone.
ReadWeights converted_weights(WeightsFile file, bool stores_bf16 = false);

// A base, off whose names the prefix is taken, and what goes beside it, as one: "a.safetensors, b.safetensors". Throws
// UserError where two of the files hold a tensor of one name. Of what their metadata say, the last file's counts.
ReadWeights read_weights(const std::vector<std::string>& paths, const std::string& prefix = {},
                         bool stores_bf16 = false);

}  // namespace heddle::runtime
