// Builds the IR of a whole training step from a Model.
//
//   {"name": "fc1", "op": "dense", "in": "x", "units": 128}
//     -> %fc1.mm: f32[64,128] = matmul(%x, %fc1.weight) {transpose_b = true}
//        %fc1: f32[64,128] = add(%fc1.mm, %fc1.bias.broadcast)
//        ...
//        %fc1.weight.grad: f32[128,784] = gradient(%loss, %fc1.weight)
//        update %fc1.weight <- %fc1.weight.next
//
// The graphs. One with a batch size of 0 in BuildOptions is not built.
//   @init          updates every state: parameters from their initializers, moments and `step` to zero, `seed`
//   @train         updates parameters, moments, step and totals; returns loss, loss.count if labels may be ignored, and
//                  step.outside if indices are computed (frontend/training/index_checks.h)
//   @train_last    the same for the last, smaller batch
//   @train.16      the same for rows of a shorter length; one for each of the model's buckets
//   @eval          no dropout, averages instead of parameters; updates totals; returns the same as @train
//   @eval_last     the same for the last, smaller batch
//   @eval.16       the same for shorter rows
//   @predict       returns the model's outputs, computed from their ancestors only, and step.outside
//   @take_average  sets parameters to their averages; only if the training keeps averages
//   @reset         sets the totals to zero
//   @metrics       returns the loss and each metric over all rows counted since @reset
//   @after_epoch   updates the states of schedules that depend on the results of an epoch
// States: parameters (Role::param); values that layers keep besides parameters, such as running statistics
// (Role::buffer); `step: i64[]`, `seed: i64[]`, moments such as `fc1.weight.m`, and the totals of the loss and of each
// metric, `accuracy.total: f64[]` and `accuracy.counted: f64[]` (Role::state).
#pragma once
#include <optional>

#include "frontend/instantiate/model_instances.h"
#include "frontend/model.h"
#include "ir/graph.h"

namespace heddle::frontend {

struct BuildOptions {
  // 0: the graph is not built.
  int64_t train = 0, train_last = 0, eval = 0, eval_last = 0, predict = 0;
  bool shorter = true;                 // also train and eval for the shorter rows of buckets
  std::optional<int64_t> total_steps;  // steps of the training, for schedules that end; nullopt: train.steps
  int64_t most_logit_bytes = kMostLogitBytes;
};

// Options for all graphs of the model at the batch size of the file.
BuildOptions default_build_options(const Model& model);

// Throws UserError if the model does not describe a training.
void require_training(const Model& model);

// Builds the graphs. Throws one UserError with all faults found.
ir::Module build_module(ModelInstances& instances, const BuildOptions& options);
ir::Module build_module(const Model& model, const BuildOptions& options);

}  // namespace heddle::frontend
