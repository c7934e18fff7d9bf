// Writes a model file with its overrides applied as one JSON text, and compares two such texts.
//
//   {"name": "m", "let": {"d": 8}, ..., "small": {...}} with --set let.d=16
//     -> {"name": "m", "let": {"d": 16}, ...}
//   against another one -> {"train.batch.N", "16", "32"}
#pragma once
#include <string>
#include <vector>

#include "frontend/read/read_model.h"

namespace heddle::tools {

// read_model must have accepted the model with the same options. The text has no `small`, `$schema`, comments or nulls.
std::string resolved_model(const SourceFile& file, const frontend::ReadOptions& options);

struct Difference {
  std::string path;           // "train.batch.N", "nodes.conv1.filters"
  std::string first, second;  // JSON, shortened; empty: absent
};
// Finds the differences. The order of members does not matter. Throws UserError where a text is not JSON.
std::vector<Difference> model_differences(const std::string& first, const std::string& second);

}  // namespace heddle::tools
