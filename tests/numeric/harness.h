// What the tests generated from the operator registry share: one-operator graphs on an operator's samples, and random
// inputs.
//
//   case add/0  ->  graph @case(input %x0: f32[4,33], input %x1: f32[4,33]) {
//                     %y0: f32[4,33] = add(%x0, %x1)
//                     return %y0
//                   }
#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"

namespace heddle::testing {

// An operator on one of its samples.
struct Case {
  const ir::OpDef* op = nullptr;
  size_t sample = 0;
  bool broadcast = false;               // the last operand repeats along a new first dimension
  std::optional<ir::DType> dtype = {};  // of all operands, instead of the operator's first

  const ir::Sample& get() const { return op->samples[sample]; }
};
std::string to_string(const Case& c);               // "leaky_relu_3", a legal name of a test
void PrintTo(const Case& c, std::ostream* stream);  // for GoogleTest's messages

// Every sample of every operator that can be evaluated; elementwise operators also with a broadcast operand.
std::vector<Case> all_cases();
// The first sample of each elementwise operator, movement and reduction in every other dtype that it takes.
std::vector<Case> dtype_cases();
std::vector<Case> cases_where(bool (*wanted)(const Case&));
bool is_differentiable(const ir::OpDef& op);  // by a gradient of its own, or through its decomposition
bool has_floating_operand(const Case& c);

// The operator's operands as graph inputs x0, x1, ..., and its results.
struct OneOp {
  ir::Module module;  // one graph, @case
  std::vector<ir::ValueId> inputs, results;
  ir::Graph& graph() { return module.graphs[0]; }
};
OneOp one_op(const Case& c);
// The same appended to a graph; `prefix` goes before the names. Returns inputs and results.
std::pair<std::vector<ir::ValueId>, std::vector<ir::ValueId>> append_case(ir::Graph& g, const Case& c,
                                                                          const std::string& prefix);

// Inputs of the sample's ranges, a function of the case's name and `seed`. Floating values are values of their dtype.
ir::NamedTensors random_inputs(const Case& c, uint64_t seed = 0);
ir::Tensor random_tensor(const ir::Type& type, double low, double high, int64_t below, uint64_t seed);
uint64_t hash_text(const std::string& text);

}  // namespace heddle::testing
