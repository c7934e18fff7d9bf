// The model file as a training takes it: overrides applied, as one JSON text; and what two such texts differ in.
//
//   {"name": "m", "let": {"d": 8}, ..., "small": {...}} with --set let.d=16
//     -> {"name": "m", "let": {"d": 16}, ...}
//   against another one -> {"train.batch.N", "16", "32"}
#pragma once
#include <string>
#include <vector>

#include "frontend/read/read_model.h"

namespace heddle::tools {

// Of a model that read_model has accepted with the same options. Without `small`, `$schema`, comments and nulls.
std::string resolved_model(const SourceFile& file, const frontend::ReadOptions& options);

struct Difference {
  std::string path;           // "train.batch.N", "nodes.conv1.filters"
  std::string first, second;  // JSON, shortened; empty: absent
};
// Members of objects may stand in any order. Throws UserError where one of the texts is no JSON.
std::vector<Difference> model_differences(const std::string& first, const std::string& second);

}  // namespace heddle::tools
