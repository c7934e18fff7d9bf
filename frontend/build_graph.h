// Builds the IR of a whole training step from a Model.
//
//   {"name": "fc1", "op": "dense", "in": "x", "units": 128}
//     -> %fc1.mm: f32[64,128] = matmul(%x, %fc1.weight) {transpose_b = true}
//        %fc1: f32[64,128] = add(%fc1.mm, %fc1.bias.broadcast)
//        ...
//        %fc1.weight.grad: f32[128,784] = gradient(%loss, %fc1.weight)
//        update %fc1.weight <- %fc1.weight.next
//
// Graphs, each as far as its batch size is given:
//   @init          updates every state: parameters from their initializers, moments and `step` to zero, `seed`
//   @train         updates parameters, moments, step and totals; returns loss, where labels count loss.count, and where
//                  indices are computed step.outside (frontend/training/index_checks.h)
//   @train_last    the same for the remainder batch
//   @train.16      the same for rows of a shorter length, of which the model's buckets have some
//   @eval          no dropout, averages in the place of parameters; updates totals; returns what @train does
//   @eval_last     the same for the remainder batch
//   @eval.16       the same for shorter rows
//   @predict       returns the model's outputs, computed from their ancestors only, and step.outside
//   @take_average  updates parameters to their averages, where the training keeps some
//   @reset         sets the totals to zero
//   @metrics       returns the loss and each metric of what was counted since
//   @after_epoch   updates what the schedule keeps, where it looks at what came out of an epoch
// States: parameters (Role::param); what layers keep beside them, such as running statistics (Role::buffer);
// `step: i64[]`, `seed: i64[]`, moments such as `fc1.weight.m`, and the totals of the loss and of each metric,
// `accuracy.total: f64[]` and `accuracy.counted: f64[]` (Role::state).
#pragma once
#include <optional>

#include "frontend/instantiate/model_instances.h"
#include "frontend/model.h"
#include "ir/graph.h"

namespace heddle::frontend {

struct BuildOptions {
  // 0: the graph is not built.
  int64_t train = 0, train_last = 0, eval = 0, eval_last = 0, predict = 0;
  bool shorter = true;                 // train and eval for shorter rows, too, where the model has buckets
  std::optional<int64_t> total_steps;  // for schedules that end; train.steps otherwise
  int64_t most_logit_bytes = kMostLogitBytes;
};

// Every graph of the model at the batch size the file gives.
BuildOptions default_build_options(const Model& model);

// Throws UserError where the model says nothing of how it is trained.
void require_training(const Model& model);

// Throws one UserError with every fault found.
ir::Module build_module(ModelInstances& instances, const BuildOptions& options);
ir::Module build_module(const Model& model, const BuildOptions& options);

}  // namespace heddle::frontend
