// Overrides: replaces values of a model file before the file is read.
//
//   --set train.optimizer.lr=3e-4    an object's keys, joined by dots
//   --set nodes.conv1.filters=64     an entry of a list by its "name"
//   --set train.metrics.0=accuracy   or by its index
//   --set train.epochs=null          null removes the key
#pragma once
#include "frontend/json/json.h"
#include "frontend/read/read_model.h"

namespace heddle::frontend {

// Applies overrides in this order: the model's object `small`, if the options ask for it; each of `set`; the short
// forms. Adds faults to `errors`.
void apply_overrides(Json& model, const ReadOptions& options, Sources& sources, Diagnostics& errors);

// Finds faults of `small` when it is not applied. The model must have no other faults, because the paths of `small`
// lead through it.
void check_small(const Json& model, Diagnostics& errors);

}  // namespace heddle::frontend
