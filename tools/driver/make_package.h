// make_package: compiles a model's programs for each target and returns them as a package (tools/driver/package.h).
//
//   make_package({.model = text, .folder = "data", .targets = {host, sm_90a}})
//
//   for each target:  train, evaluate, predict  ->  program  ->  machine code of its kernels
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tools/driver/compile.h"
#include "tools/driver/package.h"

namespace heddle::driver {

struct PackageRequest {
  std::string model;                  // text, with all overrides applied
  std::string file = {};              // the file it was read from, for messages
  std::filesystem::path folder;       // of the data files
  std::vector<PackedTarget> targets;  // name and arch of each
  std::vector<std::string> purposes;  // "train", "evaluate", "predict"; empty: all that the model has
  int64_t predict_rows = 0;           // rows at once; 0: as planned
  std::vector<std::string> outputs;   // of predictions, as in choose_outputs; empty: the model's
  CompileOptions compile = {};
};

// The target for "host" (this processor, or the one that $HEDDLE_MARCH names) or a GPU architecture such as "sm_90a".
// Throws UserError (exit 2) where `arch` is neither.
PackedTarget target_of_arch(const std::string& arch);

// Throws UserError as compiling does, and where the model has no entry for a package.
Package make_package(const PackageRequest& request);

}  // namespace heddle::driver
