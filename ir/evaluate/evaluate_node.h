// What both ways of evaluating a graph share: one node applied to tensors.
#pragma once
#include "ir/evaluate/evaluate.h"
#include "ir/op_def.h"

namespace heddle::ir {

using Operands = std::vector<const Tensor*>;

using EvaluateGraph = std::vector<Tensor> (*)(const Module& m, const Graph& g, const Operands& inputs,
                                              const std::vector<ValueId>& requested, Precision precision);
// A scan's results, its turns evaluated one after the other.
std::vector<Tensor> evaluate_scan(const Module& m, const Node& n, const Operands& operands, Precision precision,
                                  EvaluateGraph evaluate_turn);
// A node's results; a call evaluates its kernel's body.
std::vector<Tensor> evaluate_node(const Module& m, const Graph& g, const Node& n, const Operands& operands,
                                  Precision precision);
// The values `requested` of a graph without regard to memory; tensors are freed after their last use.
std::vector<Tensor> evaluate_values(const Module& m, const Graph& g, const Operands& inputs,
                                    const std::vector<ValueId>& requested, Precision precision);
// The same through the places of a planned graph.
std::vector<Tensor> evaluate_planned(const Module& m, const Graph& g, const Operands& inputs,
                                     const std::vector<ValueId>& requested, Precision precision);

}  // namespace heddle::ir
