// Logits of the last tokens of a text: a slice of axis 1 that goes to its end.
//
//   "lm_head", {"name": "said", "op": "slice", "axis": 1, "start": 6}   ->   logits of "said": those of "lm_head"
#pragma once
#include <optional>
#include <string>

#include "frontend/model.h"

namespace heddle::frontend {

// If the node is a slice of axis 1 up to its end, the logits of which it is a slice; otherwise nullopt.
std::optional<Reference> sliced_logits(const Model& model, const std::string& node);

}  // namespace heddle::frontend
