// Reads a model file into a Model. Throws one UserError with all faults found.
#pragma once
#include <string>
#include <vector>

#include "frontend/model.h"

namespace heddle::frontend {

// A command line option that is short for an override. Errors show it as the user typed it.
struct ShortForm {
  std::string option, path, value;  // "--lr", "train.optimizer.lr", "3e-4"
};

struct ReadOptions {
  std::vector<std::string> set;             // "train.optimizer.lr=3e-4"
  bool small = false;                       // apply the model's own `small` overrides, before `set`
  std::vector<ShortForm> short_forms = {};  // after `set`
};

// The model's locations point into `sources`, which must outlive the model and all errors.
Model read_model(Sources& sources, const std::string& path, const ReadOptions& options = {});
Model read_model(Sources& sources, const SourceFile& file, const ReadOptions& options = {});
// Reads a tree that was built by calls instead of read from a file.
Model read_model(Sources& sources, Json root, const ReadOptions& options = {});

}  // namespace heddle::frontend
