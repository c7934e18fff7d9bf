// What a model consists of, node by node: shapes, parameters, and what one forward pass computes.
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
  bool trained = false;  // neither frozen nor out of the loss's reach; of buffers false
  bool buffer = false;
  std::vector<std::string> readers = {};  // other nodes that read it: it is shared
};

struct SummaryNode {
  std::string path, op;
  bool block = false;  // its nodes follow, one deeper
  int depth = 0;
  std::vector<std::string> shapes;  // of its results
  std::vector<int64_t> parameters;  // its own, as indices; each parameter is of one node
  int64_t result_bytes = 0;         // that it makes; of blocks 0: their nodes do
  double flops = 0;                 // likewise
};

// A player of a training by phases.
struct SummaryPhase {
  std::string name, optimizer;      // "critic", "adam"
  std::vector<std::string> losses;  // "mse": their operators
  std::vector<std::string> match;   // "critic.*": as the model names its parameters
  std::vector<int64_t> parameters;  // that it renews, as indices
  int64_t every = 1;                // steps
};

// What a training makes 0.
struct SummaryPruned {
  std::string amount;               // "0.5", "2:4"
  int64_t begin = 0, end = 0;       // steps
  std::vector<int64_t> parameters;  // as indices
};

// What a training makes whole numbers of.
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

// With the batch of train.batch, or 1. Throws UserError with every fault found.
ModelSummary summarize(ModelInstances& instances);

}  // namespace heddle::frontend
