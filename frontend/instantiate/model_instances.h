// ModelInstances: a model and its instances, each made once, whoever asks: the plan, the summary, the graphs.
//
//   ModelInstances instances(model);
//   plan_training(instances);             // instantiates for an evaluation of the model's batch
//   build_module(instances, options);     // @eval and @predict take a copy of that one
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "frontend/instantiate/instantiate.h"

namespace heddle::frontend {

class ModelInstances {
 public:
  explicit ModelInstances(const Model& model);  // which outlives this
  const Model& model() const { return model_; }
  // Those of the same model of shorter rows, in the order of Model::shorter.
  size_t shorter_count() const { return shorter_.size(); }
  ModelInstances& shorter(size_t i) { return *shorter_[i]; }
  // As instantiate_model. What has faults is instantiated, and its faults are told, each time. The
  // result stays until the next `clear`, or until faults make it be asked for again.
  const Instance& at(const InstanceOptions& options, Diagnostics& errors);
  // Of all scans of all instances, those of shorter rows too, each before the bodies that scan it; a name means one body.
  std::vector<ir::Graph> bodies() const;
  // Gives their memory back. Whoever asks again gets a new instance.
  void clear();

 private:
  struct Made {
    Instance instance;
    bool whole = false;  // without a fault, as far as `errors` tells
  };
  const Model& model_;
  std::map<InstanceOptions, Made> made_;
  std::vector<std::unique_ptr<ModelInstances>> shorter_;
};

// At twice the batch, for an evaluation: what of the network depends on the batch. nullptr where
// the model does not take that batch, which it need not.
const Instance* instance_of_twice(ModelInstances& instances, int64_t batch);

// A batch of 1 row has no rows that meet, and a column of it is one number: predictions have more. Throws UserError where
// gradients are faulty with 2 rows.
void require_gradients_of_two_rows(ModelInstances& instances, int64_t batch);

}  // namespace heddle::frontend
