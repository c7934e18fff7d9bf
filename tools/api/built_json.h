// Converts a model that was built in C++ into the JSON tree that its text would give. So one reader checks both kinds
// of models.
//
//   {{"nodes", Value::list({{{"name", "fc1"}, {"units", 4}}})}}
//     -> the tree of {"nodes": [{"name": "fc1", "units": 4}]}, with the place "nodes.fc1.units" of the 4
#pragma once
#include "frontend/json/json.h"
#include "tools/api/heddle.h"

namespace heddle::api {

// The location of a value is its path, as --set takes it. `sources` keeps these paths as names of sources without text.
// Throws UserError where a key is given twice, a number is not finite, or values are nested too deep.
frontend::Json built_json(const Value& model, frontend::Sources& sources);

}  // namespace heddle::api
