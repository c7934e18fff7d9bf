// Accumulate: builds a training step with micro-batches. Forward pass, losses, metrics and gradients run over a few
// rows at a time, and the gradients are added up.
//
//   train.batch 128, accumulate 8:
//     %loss.count.whole: f64[] = scan @loss.count.train.of_16.train(...) {count = 8}      of a loss whose labels may not count
//     %fc.weight.grad, %loss, ... = scan @loss.train.of_16.train(%zeros, ..., %x, %label, %fc.weight) {apart, count = 8}
//     %fc.weight.next = ...                                                                once a step, as ever
//
// The body is the training of an instance with few rows. It contains `gradient` nodes, which `differentiate` replaces.
// Its carries are the sums of gradients and losses, the totals of measures, and the buffers of layers. So batch
// statistics are those of a micro-batch, and are updated one after another. Its slices are the rows of the step's
// inputs, and the states that stateful layers keep for each row. Losses divide by the count of the whole step. Random
// numbers depend on the index of a row in the step. Penalties (train.regularize) are added outside of the loop, once.
#pragma once
#include <vector>

#include "frontend/instantiate/model_instances.h"
#include "frontend/instantiate/same_network.h"
#include "frontend/training/index_checks.h"
#include "frontend/training/train_step.h"

namespace heddle::frontend {

// `turns` micro-batches of `rows` rows each.
struct MicroBatches {
  int64_t rows = 0, turns = 0;
};
// Divides `batch` rows into the fewest micro-batches of at most `rows` rows. Their sizes differ by at most one row; the
// larger ones come first.
std::vector<MicroBatches> micro_batches(int64_t batch, int64_t rows);

struct AccumulateOptions {
  std::string entry;  // the graph's name
  int64_t batch = 0;
  int64_t most_logit_bytes = kMostLogitBytes;
};

struct Accumulated {
  Instance instance;  // its graph holds the loops; its tables no longer describe a micro-batch
  Losses losses;
  ir::ValueId counted;  // how much of the step counts in the losses; invalid if that does not depend on the data
  std::vector<MeasureStates> measures;
  Gradients gradients;
  std::vector<IndexCheck> indices;
  std::vector<ir::Graph> measure_bodies, bodies;  // `bodies` scan the bodies of the network
};

// Whether the model's steps have micro-batches.
bool accumulates(const Model& model);
// The most rows of a micro-batch.
int64_t rows_of_micro_batch(const Model& model);

// Builds the forward pass, the losses and their gradients of a step. The result is empty if the model is faulty.
Accumulated accumulate(ModelInstances& instances, const AccumulateOptions& options, SameNetwork& same,
                       Diagnostics& errors);

}  // namespace heddle::frontend
