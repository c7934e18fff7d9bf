// The rules of simplify, by family of operators. Each looks at one node with one result and answers with a value that
// can take the result's place, building what it needs, or with an invalid id and nothing built.
//
//   neg(neg(x)) -> x
#pragma once
#include <optional>

#include "ir/builder.h"

namespace heddle::passes {

ir::ValueId fold_constants(ir::Builder& b, const ir::Node& n);
ir::ValueId simplify_elementwise(ir::Builder& b, const ir::Node& n);
ir::ValueId simplify_movement(ir::Builder& b, const ir::Node& n);
ir::ValueId simplify_reduction(ir::Builder& b, const ir::Node& n);

// --- What rules match with ---

// The value of every element, where a constant says so.
std::optional<double> splat(const ir::Graph& g, ir::ValueId v);
bool is_splat(const ir::Graph& g, ir::ValueId v, double value);
// The operand of the node that defines `v`, where that node is a unary `op`; invalid otherwise.
ir::ValueId operand_of(const ir::Graph& g, ir::ValueId v, std::string_view op);
// The node that defines `v` where it is an `op`; nullptr otherwise.
const ir::Node* defined_by(const ir::Graph& g, ir::ValueId v, std::string_view op);
ir::Dims dims_attr(const ir::Node& n, std::string_view name);

}  // namespace heddle::passes
