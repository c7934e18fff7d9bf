// TrainingPlan: what running a model needs to know beside its Program: rows, batches, seeds, which metrics there are.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/instantiate/model_instances.h"
#include "frontend/model.h"
#include "frontend/training/index_checks.h"

namespace heddle::frontend {

// A result of @metrics, which makes it of the totals that @train, @train_last, @eval and @eval_last have renewed since
// @reset.
struct Metric {
  std::string name;  // "accuracy"
  bool higher_is_better = false;
};

struct PlannedInput {
  std::string name;
  ir::Type row;            // one row, without the batch dimension
  int64_t below = -1;      // labels of a classification lie in [0, below), or are -100; -1: not an index
  bool looked_up = false;  // elements are found by it: -100 is none
  ir::Dims stored = {};    // of a row of the file: the maps make `row` of it
  int64_t one_hot = 0;     // the classes that a map makes the last axis of; 0: none
  std::vector<Diagnostic> bounded_by = {};  // a note: what has no more places, or classes
  bool channels_first = false;              // of a picture of three axes
  bool cast = false;                        // a map turns what is floating into integers
};

// A row of an embedding that reads as zeros, whatever a file of weights holds there.
struct PaddingRow {
  std::string parameter;
  int64_t row = 0;
  Location where;       // of the node
  bool shared = false;  // another node reads the parameter, and this row of it
};

// A tensor that follows another one. Weights without those of a node are weights of a model without it: the node's tensors
// start as their sources.
struct PlannedCopy {
  std::string parameter, source;
  std::string node;  // its path
};

// What train.lora trains, which a file may hold without the rest of the weights: thin matrices, and parameters themselves.
struct PlannedAdapters {
  double alpha = 0, scale = 0;
  std::vector<AdapterPaths> paths;
  std::vector<std::string> trained;  // paths of the latter
  std::vector<std::string> frozen;   // of those that are not, since train.freeze holds them
};

// Rows of a shorter length, as the entries that are made for them take them.
struct PlannedBucket {
  int64_t length = 0;
  std::vector<PlannedInput> inputs;     // as those of the plan
  std::vector<CheckedIndices> indices;  // likewise
};

// What a training may take, and what it computes again.
struct PlannedMemory {
  int64_t limit = 0;                // bytes; 0: what the device has
  std::vector<std::string> blocks;  // paths of blocks whose values are computed again
  std::vector<std::string> others;  // in the order in which they join these, as the limit asks for it
};

struct TrainingPlan {
  std::string name;
  std::vector<PlannedInput> inputs;  // in the model's order; an entry may use fewer
  int64_t batch = 0;
  std::optional<int64_t> epochs, steps;  // where both are given, whichever ends first
  int64_t seed = 0;
  bool drop_last = false;
  bool in_order = false;                      // rows are not shuffled: layers keep states from batch to batch
  bool clips = false, gradient_norm = false;  // the gradients' norm cuts them; each step tells it
  std::vector<Metric> metrics;                // the first is "loss"; each over all that counts since the last reset
  std::optional<EarlyStop> early_stop;        // its mode is known
  CheckpointRule checkpoint;
  std::vector<CheckedIndices> indices;  // a line of step.outside each
  Data data;
  std::optional<WeightsTable> weights;
  std::vector<PaddingRow> padding;
  std::vector<Diagnostic> warnings;    // what is allowed, and hardly meant
  std::vector<PlannedBucket> buckets;  // of shorter rows, the shortest first
  std::vector<PlannedCopy> copies;
  std::optional<PlannedAdapters> adapters;
  PlannedMemory memory;
};

// The input that entries call `name`: where an output has taken it, with kNameTaken (model_outputs.h). nullptr: none.
const PlannedInput* find_input(const TrainingPlan& plan, const std::string& name);

// Throws UserError where the model's shapes do not fit.
TrainingPlan plan_training(ModelInstances& instances);
TrainingPlan plan_training(const Model& model);

}  // namespace heddle::frontend
