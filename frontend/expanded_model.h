// ExpandedModel: a model and its expansions, each made once, whoever asks: the plan, the summary, the graphs.
//
//   ExpandedModel expanded(model);
//   plan_training(expanded);             // expands for an evaluation of the model's batch
//   build_module(expanded, options);     // @eval and @predict take a copy of that one
#pragma once
#include <map>

#include "frontend/expand.h"

namespace heddle::frontend {

class ExpandedModel {
 public:
  explicit ExpandedModel(const Model& model) : model_(model) {}  // the model outlives this
  const Model& model() const { return model_; }
  // As expand_model. What has faults is expanded, and its faults are told, each time. The result stays until the next
  // `clear`, or until faults make it be asked for again.
  const Expansion& at(const ExpandOptions& options, Diagnostics& errors);
  // Gives their memory back. Whoever asks again gets a new expansion.
  void clear() { made_.clear(); }

 private:
  struct Made {
    Expansion expansion;
    bool whole = false;  // without a fault, as far as `errors` tells
  };
  const Model& model_;
  std::map<ExpandOptions, Made> made_;
};

// At twice the batch, for an evaluation: what of the network depends on the batch. nullptr where
// the model does not take that batch, which it need not.
const Expansion* expand_twice(ExpandedModel& expanded, int64_t batch);

}  // namespace heddle::frontend
