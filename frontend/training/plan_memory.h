// plan_memory: finds the blocks that the backward sweep computes again, and further ones for which it may do so.
//
//   "memory": {"recompute": ["h.*"]}, h of 12 turns   ->   h.0, ..., h.11
#pragma once
#include "frontend/training/training_plan.h"

namespace heddle::frontend {

// Reports patterns that match no block.
PlannedMemory plan_memory(const Model& model, const Instance& e, Diagnostics& errors);

}  // namespace heddle::frontend
