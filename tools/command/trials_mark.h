// What the trials in a folder are: the object in its heddle-sweep.json or heddle-folds.json.
//
//   {"format": "heddle-folds/1", "folds": 5, "data": "/home/me/data", "model": "{...}"}
#pragma once
#include <string>
#include <vector>

#include "frontend/json/json.h"

namespace heddle::tools {

// A member as text; "" where it is absent.
std::string text_at(const frontend::Json& json, const char* key);

// Trials that have ended are not trained again, so the others must be of the same kind: throws UserError that names what
// differs in `keys`, or in the model.
void require_same_mark(const std::string& path, const std::string& before, const std::string& now,
                       const std::vector<const char*>& keys);

// The process of each trial reads the model's file itself: throws UserError where it has changed since it was read here.
void require_same_file(const std::string& path, const std::string& text);

}  // namespace heddle::tools
