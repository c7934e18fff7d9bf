// Makes a JSON Schema (draft 2020-12, https://json-schema.org) of the model format from the registries. Editors use it
// for completion and checks.
//
//   {"$ref": "#/$defs/node"} with, for each layer, {"if": {op is "dense"}, "then": {units, bias, ..., and no other key}}
//
// The schema describes keys and kinds of values. `heddle check` also checks shapes, names, and settings that depend on
// each other.
#pragma once
#include <string>

namespace heddle::tools {

std::string model_schema();  // one JSON text

}  // namespace heddle::tools
