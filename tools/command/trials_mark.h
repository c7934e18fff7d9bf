// Reads and compares the marks of trial folders: the JSON object in heddle-sweep.json or heddle-folds.json.
//
//   {"format": "heddle-folds/1", "folds": 5, "data": "/home/me/data", "model": "{...}"}
#pragma once
#include <string>
#include <vector>

#include "frontend/json/json.h"

namespace heddle::tools {

// A member as text; "" where it is absent.
std::string text_at(const frontend::Json& json, const char* key);

// Throws UserError, which names the difference, where two marks differ in `keys` or in the model: finished trials are
// not trained again, so the remaining ones must match them.
void require_same_mark(const std::string& path, const std::string& before, const std::string& now,
                       const std::vector<const char*>& keys);

// Throws UserError where the model's file has changed since this process read it, because each trial's process reads it
// again.
void require_same_file(const std::string& path, const std::string& text);

}  // namespace heddle::tools
