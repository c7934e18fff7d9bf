// Expressions over values: the language of scalar rules.
//
//   select(not(c), x, y)   ->   {"select", {{"not", {{"c"}}}, {"x"}, {"y"}}}
//
// A name with operands is an operator without attributes. A name without operands is a value; equal names mean the same
// value. A number is a constant with that number in every element.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "passes/simplify/rules.h"

namespace heddle::passes {

struct Expression {
  std::string name;              // the operator or the value
  std::optional<double> number;  // set for a constant
  std::vector<Expression> operands;

  bool is_value() const { return !number && operands.empty(); }
};
Expression parse_expression(std::string_view text);  // `text` comes from a rule, so a malformed one is a bug

using Bindings = std::map<std::string, ir::ValueId, std::less<>>;  // values by name

// Whether the expression computes `v`. Binds the names of the expression to values. Commutative operators also match
// with exchanged operands.
bool match(const ir::Graph& g, const Expression& e, ir::ValueId v, Bindings& bindings);
// Builds the expression over `bindings`. A number gets the type of `like`.
ir::ValueId build(ir::Builder& b, const Expression& e, const Bindings& bindings, ir::ValueId like);

}  // namespace heddle::passes
