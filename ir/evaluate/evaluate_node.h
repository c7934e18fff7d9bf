// The parts of the evaluator: nodes, scans, and a graph's values with or without planned memory.
#pragma once
#include "ir/evaluate/evaluate.h"
#include "ir/op_def.h"

namespace heddle::ir {

using Operands = std::vector<const Tensor*>;

using EvaluateGraph = std::vector<Tensor> (*)(const Module& m, const Graph& g, const Operands& inputs,
                                              const std::vector<ValueId>& requested, Precision precision);
// A scan's results. `evaluate_turn` evaluates the body once per turn.
std::vector<Tensor> evaluate_scan(const Module& m, const Node& n, const Operands& operands, Precision precision,
                                  EvaluateGraph evaluate_turn);
// A node's results; a call evaluates its kernel's graph.
std::vector<Tensor> evaluate_node(const Module& m, const Graph& g, const Node& n, const Operands& operands,
                                  Precision precision);
// The values `requested` of a graph, without planned memory. Tensors are freed after their last use.
std::vector<Tensor> evaluate_values(const Module& m, const Graph& g, const Operands& inputs,
                                    const std::vector<ValueId>& requested, Precision precision);
// The same values of a planned graph; each value is written to and read from its place.
std::vector<Tensor> evaluate_planned(const Module& m, const Graph& g, const Operands& inputs,
                                     const std::vector<ValueId>& requested, Precision precision);

}  // namespace heddle::ir
