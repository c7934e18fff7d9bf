// Accumulate: a step whose forward pass, losses, metrics and gradients run over a few of its rows at a time.
//
//   train.batch 128, accumulate 8:
//     %loss.count.whole: f64[] = scan @loss.count.train.of_16.train(...) {count = 8}      of a loss whose labels may not count
//     %fc.weight.grad, %loss, ... = scan @loss.train.of_16.train(%zeros, ..., %x, %label, %fc.weight) {apart, count = 8}
//     %fc.weight.next = ...                                                                once a step, as ever
//
// The body is the training of an instance of few rows, with its gradients as `gradient` nodes, which `differentiate`
// replaces there. Carries are sums of gradients and losses, the totals of measures, and what layers renew: so batch
// statistics are those of a micro-batch, renewed in order. Slices are the rows of the step's inputs, which are fed as
// ever, and what stateful layers keep of each row. Losses divide by what counts in the whole step. Random numbers are
// drawn by a row's place in the step. What weights are to be (train.regularize) is added outside, once.
#pragma once
#include <vector>

#include "frontend/instantiate/model_instances.h"
#include "frontend/instantiate/same_network.h"
#include "frontend/training/index_checks.h"
#include "frontend/training/train_step.h"

namespace heddle::frontend {

// Micro-batches of so many rows, one after the other.
struct MicroBatches {
  int64_t rows = 0, turns = 0;
};
// `batch` rows cut into as few micro-batches of at most `rows` as there may be, which differ by one row at most: larger
// ones first.
std::vector<MicroBatches> micro_batches(int64_t batch, int64_t rows);

struct AccumulateOptions {
  std::string entry;  // the graph's name
  int64_t batch = 0;
  int64_t most_logit_bytes = kMostLogitBytes;
};

struct Accumulated {
  Instance instance;  // its graph holds the loops; what it says of nodes and values is of a micro-batch no more
  Losses losses;
  ir::ValueId counted;  // how much of the step counts in the losses; invalid where the data has no say in it
  std::vector<MeasureStates> measures;
  Gradients gradients;
  std::vector<IndexCheck> indices;
  std::vector<ir::Graph> measure_bodies, bodies;  // the latter run those of the network
};

// Whether the model's steps have micro-batches.
bool accumulates(const Model& model);
// How many rows one has at most.
int64_t rows_of_micro_batch(const Model& model);

// The forward pass, the losses and their gradients of a step; nothing where the model is faulty.
Accumulated accumulate(ModelInstances& instances, const AccumulateOptions& options, SameNetwork& same,
                       Diagnostics& errors);

}  // namespace heddle::frontend
