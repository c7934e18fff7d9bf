// Reads a model file into a Model, or throws one UserError with every fault found.
#pragma once
#include <string>
#include <vector>

#include "frontend/model.h"

namespace heddle::frontend {

// An option of the command line that stands for an override: errors name it as it was typed.
struct ShortForm {
  std::string option, path, value;  // "--lr", "train.optimizer.lr", "3e-4"
};

struct ReadOptions {
  std::vector<std::string> set;             // "train.optimizer.lr=3e-4"
  bool small = false;                       // apply the model's own `small` overrides, before `set`
  std::vector<ShortForm> short_forms = {};  // after `set`
};

// The model's locations point into `sources`, which outlives it and every error.
Model read_model(Sources& sources, const std::string& path, const ReadOptions& options = {});
Model read_model(Sources& sources, const SourceFile& file, const ReadOptions& options = {});
// Of a tree that was built, and read from no file.
Model read_model(Sources& sources, Json root, const ReadOptions& options = {});

}  // namespace heddle::frontend
