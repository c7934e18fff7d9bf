// A model's values, built in C++, as the tree that its text would be read as: one reader checks both.
//
//   {{"nodes", Value::list({{{"name", "fc1"}, {"units", 4}}})}}
//     -> the tree of {"nodes": [{"name": "fc1", "units": 4}]}, with the place "nodes.fc1.units" of the 4
#pragma once
#include "frontend/json/json.h"
#include "tools/api/heddle.h"

namespace heddle::api {

// Places are paths, as --set takes them: names in `sources`, of which there is no text. Throws UserError where a key is
// given twice, a number is not finite, or values lie too deep inside one another.
frontend::Json built_json(const Value& model, frontend::Sources& sources);

}  // namespace heddle::api
