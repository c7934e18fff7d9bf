// The summary of a model, node by node: shapes, parameters, and the cost of one forward pass.
//
//   {"name": "fc1", "op": "dense", "in": "x", "units": 4}   with x: f32[8,3]
//     -> {path = "fc1", op = "dense", shape = "[N,4]", parameters = 16, result_bytes = 128, flops = 8*3*4*2 + 8*4}
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontend/instantiate/model_instances.h"

namespace heddle::frontend {

struct SummaryParameter {
  std::string path, shape;
  int64_t elements = 0, bytes = 0;
  bool trained = false;  // not frozen, and the loss depends on it; false for buffers
  bool buffer = false;
  std::vector<std::string> readers = {};  // other nodes that read it: it is shared
};

struct SummaryNode {
  std::string path, op;
  bool block = false;  // a use of a block; the block's nodes follow, with a greater depth
  int depth = 0;
  std::vector<std::string> shapes;  // of its results
  std::vector<int64_t> parameters;  // its parameters, as indices; each one belongs to one node
  int64_t result_bytes = 0;         // bytes of its results; 0 for blocks, whose nodes have them
  double flops = 0;                 // likewise
};

// A player of a training with phases.
struct SummaryPhase {
  std::string name, optimizer;      // "critic", "adam"
  std::vector<std::string> losses;  // their operators: "mse"
  std::vector<std::string> match;   // the globs for its parameters: "critic.*"
  std::vector<int64_t> parameters;  // the parameters that it updates, as indices
  int64_t every = 1;                // steps
};

// The pruning of a training.
struct SummaryPruned {
  std::string amount;               // "0.5", "2:4"
  int64_t begin = 0, end = 0;       // steps
  std::vector<int64_t> parameters;  // as indices
};

// The quantization of a training.
struct SummaryQuantized {
  int64_t start = 0;                // steps before it begins
  std::string observer;             // "minmax"
  std::vector<int64_t> parameters;  // as indices
};

struct ModelSummary {
  std::string batch_name;
  int64_t batch = 0;
  std::vector<SummaryNode> nodes;
  std::vector<SummaryParameter> parameters;
  std::vector<SummaryPhase> phases = {};
  std::optional<SummaryPruned> pruned = {};
  std::optional<SummaryQuantized> quantized = {};
};

// Summarizes the model with the batch size of train.batch, or 1. Throws UserError with all faults found.
ModelSummary summarize(ModelInstances& instances);

}  // namespace heddle::frontend
