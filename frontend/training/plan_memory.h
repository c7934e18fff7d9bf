// plan_memory: which blocks of a model the backward sweep computes again, and which ones it may.
//
//   "memory": {"recompute": ["h.*"]}, h of 12 turns   ->   h.0, ..., h.11
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// Patterns that match nothing are errors.
PlannedMemory plan_memory(const Model& model, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
