// ModelInstances: a cache of the instances of a model. The plan, the summary and the graphs share them.
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
  explicit ModelInstances(const Model& model);  // `model` must outlive this
  const Model& model() const { return model_; }
  // The instances of the models for shorter rows, in the order of Model::shorter.
  size_t shorter_count() const { return shorter_.size(); }
  ModelInstances& shorter(size_t i) { return *shorter_[i]; }
  // The instance with these options. Like instantiate_model, but made only once. A faulty instance is made again, and
  // its faults are reported, at each call. The reference is valid until `clear`, or until a faulty instance is made
  // again.
  const Instance& at(const InstanceOptions& options, Diagnostics& errors);
  // The bodies of all scans of all instances, including those for shorter rows. Each stands before the bodies that scan
  // it. A name always means the same body.
  std::vector<ir::Graph> bodies() const;
  // Frees all instances. Later calls of `at` make new ones.
  void clear();

 private:
  struct Made {
    Instance instance;
    bool whole = false;  // `errors` was empty after it was made
  };
  const Model& model_;
  std::map<InstanceOptions, Made> made_;
  std::vector<std::unique_ptr<ModelInstances>> shorter_;
};

// The instance for an evaluation with twice the batch. A comparison with it shows what depends on the batch. nullptr if
// the model is not valid for that batch, which is no error.
const Instance* instance_of_twice(ModelInstances& instances, int64_t batch);

// With a batch of 1 row, gradient nodes that mix rows cannot be detected, but predictions have more rows. So for
// `batch` 1 this instantiates 2 rows, and throws UserError for the faults of gradient nodes.
void require_gradients_of_two_rows(ModelInstances& instances, int64_t batch);

}  // namespace heddle::frontend
