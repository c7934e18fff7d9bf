// Reads weights files of other programs in the form that a model needs. Tensors of f16, bf16 and f64 become f32, and so
// do those of quantised files (runtime/weights/quantize.h). A prefix of the names is removed where asked for. Weights
// in several files are read through their index.
//
//   {"module.w": f16[2]}, prefix "module." -> {"w": f32[2]}, note "a.safetensors: 1 tensor becomes f32: 1 from f16 (w)"
#pragma once
#include <string>
#include <vector>

#include "runtime/weights/safetensors.h"

namespace heddle::runtime {

// A key of the metadata of checkpoints; other files do not have it.
constexpr const char* kCheckpointMark = "heddle.checkpoint";

struct ReadWeights {
  WeightsFile file;
  std::string note;  // what was converted; empty: nothing was
};

// Throws UserError where the file is not a weights file or is a checkpoint, where no name has the prefix or two names
// become equal without it, and where a finite number is out of the range of f32: "FILE: 'w': element 3 is 1e+300, ...".
// `stores_bf16`: the model stores bf16 parameters, so that no note is made of bf16 tensors.
ReadWeights read_weights(const std::string& path, const std::string& prefix = {}, bool stores_bf16 = false);
// Converts the types of a file that has been read. Names stay.
ReadWeights converted_weights(WeightsFile file, bool stores_bf16 = false);

// Reads a base and further files as one, named "a.safetensors, b.safetensors". The prefix is removed from the base's
// names. Throws UserError where two files hold a tensor of the same name. Where metadata differ, the last file's are
// used.
ReadWeights read_weights(const std::vector<std::string>& paths, const std::string& prefix = {},
                         bool stores_bf16 = false);

}  // namespace heddle::runtime
