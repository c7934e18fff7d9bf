// TrainingPlan: the facts that a run needs besides the Program, such as the rows of inputs, the batch size, the seed
// and the metrics.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "frontend/instantiate/model_instances.h"
#include "frontend/model.h"
#include "frontend/training/index_checks.h"

namespace heddle::frontend {

// A result of @metrics. It is computed from the totals that @train, @train_last, @eval and @eval_last have updated
// since @reset.
struct Metric {
  std::string name;  // "accuracy"
  bool higher_is_better = false;
};

struct PlannedInput {
  std::string name;
  ir::Type row;                             // one row, without the batch dimension
  int64_t below = -1;                       // indices and labels lie in [0, below), or a label is -100; -1: neither
  bool looked_up = false;                   // it is an index of elements: -100 is not allowed
  ir::Dims stored = {};                     // the shape of a row in the file, from which the maps make `row`
  int64_t one_hot = 0;                      // the number of classes that a map puts into the last axis; 0: none
  std::vector<Diagnostic> bounded_by = {};  // a note that says where `below` comes from
  bool channels_first = false;              // for an image with three axes
  bool cast = false;                        // a map converts floating values to integers
};

// A row of an embedding that is zero, whatever a file of weights holds there.
struct PaddingRow {
  std::string parameter;
  int64_t row = 0;
  Location where;       // of the node
  bool shared = false;  // another node also reads the parameter, including this row
};

// A tensor that is a copy or an average of another one. If weights lack all such tensors of a node, they start with the
// values of their sources.
struct PlannedCopy {
  std::string parameter, source;
  std::string node;  // its path
};

// The parameters that train.lora trains: thin matrices, and parameters that are trained themselves. A file may hold
// them without the other weights.
struct PlannedAdapters {
  double alpha = 0, scale = 0;
  std::vector<AdapterPaths> paths;
  std::vector<std::string> trained;  // paths of parameters that are trained themselves
  std::vector<std::string> frozen;   // paths of parameters that are not, because of train.freeze
};

// The inputs and index checks of the entries for one shorter length of rows.
struct PlannedBucket {
  int64_t length = 0;
  std::vector<PlannedInput> inputs;     // as in TrainingPlan
  std::vector<CheckedIndices> indices;  // likewise
};

// The memory limit of a training, and the blocks whose values it computes again.
struct PlannedMemory {
  int64_t limit = 0;                // bytes; 0: the memory of the device
  std::vector<std::string> blocks;  // paths of blocks whose values are computed again
  std::vector<std::string> others;  // further blocks, in the order in which they are added if the limit requires it
};

struct TrainingPlan {
  std::string name;
  std::vector<PlannedInput> inputs;  // in the model's order; an entry may use fewer
  int64_t batch = 0;
  std::optional<int64_t> epochs, steps;  // if both are given, the first limit ends the training
  int64_t seed = 0;
  bool drop_last = false;
  bool in_order = false;                      // rows are not shuffled, because layers keep states between batches
  bool clips = false, gradient_norm = false;  // gradients are clipped by their norm; each step returns the norm
  std::vector<Metric> metrics;                // the first one is "loss"; all cover the rows since the last reset
  std::optional<EarlyStop> early_stop;        // with `mode` set
  CheckpointRule checkpoint;
  std::vector<CheckedIndices> indices;  // one for each row of step.outside
  Data data;
  std::optional<WeightsTable> weights;
  std::vector<PaddingRow> padding;
  std::vector<Diagnostic> warnings;    // about settings that are allowed but probably mistakes
  std::vector<PlannedBucket> buckets;  // for shorter rows, the shortest first
  std::vector<PlannedCopy> copies;
  std::optional<PlannedAdapters> adapters;
  PlannedMemory memory;
};

// The input that entries call `name`; nullptr if there is none. If an output has the name of an input, entries append
// kNameTaken (model_outputs.h) to the input's name.
const PlannedInput* find_input(const TrainingPlan& plan, const std::string& name);

// Makes the plan. Throws UserError if the model's shapes do not fit.
TrainingPlan plan_training(ModelInstances& instances);
TrainingPlan plan_training(const Model& model);

}  // namespace heddle::frontend
