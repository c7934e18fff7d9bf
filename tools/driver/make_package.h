// make_package: a model's programs, compiled for each target, as a package (tools/driver/package.h).
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
  std::string file = {};              // that it was read from, for messages
  std::filesystem::path folder;       // of the data files
  std::vector<PackedTarget> targets;  // name and arch of each
  std::vector<std::string> purposes;  // "train", "evaluate", "predict"; none: all that the model has
  int64_t predict_rows = 0;           // at once; 0: as is planned
  std::vector<std::string> outputs;   // that predict computes, as choose_outputs; none: the model's
  CompileOptions compile = {};
};

// "host" (for this processor, or what $HEDDLE_MARCH names), "sm_90a". Throws UserError (exit 2) where it is neither.
PackedTarget target_of_arch(const std::string& arch);

// Throws UserError as compiling does, and where the model has nothing that a package could run.
Package make_package(const PackageRequest& request);

}  // namespace heddle::driver
