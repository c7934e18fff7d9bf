// Overrides: values of the model file replaced before it is read.
//
//   --set train.optimizer.lr=3e-4    an object's keys, joined by dots
//   --set nodes.conv1.filters=64     an entry of a list by its "name"
//   --set train.metrics.0=accuracy   or by its index
//   --set train.epochs=null          null removes the key
#pragma once
#include <string>
#include <vector>

#include "frontend/json.h"

namespace heddle::frontend {

// Applies the object `small` of the model, then each of `set`; collects faults.
void apply_overrides(Json& model, bool small, const std::vector<std::string>& set, Sources& sources,
                     Diagnostics& errors);

}  // namespace heddle::frontend
