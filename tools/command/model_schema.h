// A JSON Schema (draft 2020-12, https://json-schema.org) of the model format, from the registries:
// editors complete and check by it.
//
//   {"$ref": "#/$defs/node"} with, for each layer, {"if": {op is "dense"}, "then": {units, bias, ..., and no other key}}
//
// It knows keys and kinds of values; shapes, names and numbers that belong together are what
// `heddle check` finds.
#pragma once
#include <string>

namespace heddle::tools {

std::string model_schema();  // one JSON text

}  // namespace heddle::tools
