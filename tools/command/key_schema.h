// Writes keys as JSON Schema.
//
//   {.name = "steps", .count = Count::several, .doc = "optimizer steps"}
//     -> "steps": {"anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": ...}], "description": "optimizer steps"}
//
// A part is written as a reference to the definition of its family, and so is an object that is not described inline.
#pragma once
#include <string>
#include <vector>

#include "frontend/keys/model_keys.h"
#include "tools/command/schema_parts.h"

namespace heddle::tools::schema {

std::string of_key(const ir::Key& key);

// An object's properties, and which of them are required.
struct Properties {
  Members members;
  std::vector<std::string> required;
  Properties& add(frontend::Keys keys);
};
std::string closed_object(frontend::Keys keys);

// Adds a description to a schema, after its list of types, which `or_null` looks for at the beginning.
std::string described(const std::string& schema, const std::string& doc);

}  // namespace heddle::tools::schema
