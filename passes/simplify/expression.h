// Expressions over values: what scalar rules are written in.
//
//   select(not(c), x, y)   ->   {"select", {{"not", {{"c"}}}, {"x"}, {"y"}}}
//
// A name with operands is an operator without attributes, a name without is a value, a number is a constant of that
// value in every element. Equal names are one value.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "passes/simplify/rules.h"

namespace heddle::passes {

struct Expression {
  std::string name;              // of an operator or a value
  std::optional<double> number;  // of a constant
  std::vector<Expression> operands;

  bool is_value() const { return !number && operands.empty(); }
};
Expression parse_expression(std::string_view text);  // of a rule: must be well formed

using Bindings = std::map<std::string, ir::ValueId, std::less<>>;  // values by name

// Finds values for the names such that `v` is computed as the expression says. Commutative operators match with their
// operands exchanged, too.
bool match(const ir::Graph& g, const Expression& e, ir::ValueId v, Bindings& bindings);
// The expression over `bindings`; a number gets the type of `like`.
ir::ValueId build(ir::Builder& b, const Expression& e, const Bindings& bindings, ir::ValueId like);

}  // namespace heddle::passes
