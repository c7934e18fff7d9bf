// Overrides: values of the model file replaced before it is read.
//
//   --set train.optimizer.lr=3e-4    an object's keys, joined by dots
//   --set nodes.conv1.filters=64     an entry of a list by its "name"
//   --set train.metrics.0=accuracy   or by its index
//   --set train.epochs=null          null removes the key
#pragma once
#include "frontend/json/json.h"
#include "frontend/read/read_model.h"

namespace heddle::frontend {

// Applies the object `small` of the model where that is asked for, then each of `set`, then the
// short forms; collects faults.
void apply_overrides(Json& model, const ReadOptions& options, Sources& sources, Diagnostics& errors);

// Faults of `small` where it was not asked for: of a model without other faults, which its paths lead through.
void check_small(const Json& model, Diagnostics& errors);

}  // namespace heddle::frontend
