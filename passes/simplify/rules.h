// The rules of simplify. Each looks at one node with one result and answers with a value that can take the result's
// place, building what it needs, or with an invalid id and nothing built.
//
//   {"neg(neg(x))", "x"}   %b = neg(%a) with %a = neg(%x)   ->   %x
//
// Every rule is proved by tests/numeric/simplify_rules_test.cpp: a scalar rule from its own text, over every value of
// the small dtypes and the edges of the others; any other rule over the random graphs that the test has for its name.
// A rule without such graphs fails there.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace heddle::passes {

// How far the results of a rule may be from what they replace. The payload of NaN may always differ.
enum class Agreement {
  exact,
  sign_of_zero,
  rounding,  // the same real number, rounded fewer times or at other places
};

// --- Rules of elementwise operators, as expressions

// For which dtypes of x a rule holds.
enum class Where { any, floating, integer, with_sign, truth };
bool holds(Where where, ir::DType dtype);

struct ScalarRule {
  std::string from, to;  // passes/simplify/expression.h
  Where where;
  Agreement agreement;
};
const std::vector<ScalarRule>& scalar_rules();  // the first that matches is taken
ir::ValueId apply_scalar_rules(ir::Builder& b, const ir::Node& n);
ir::ValueId apply(const ScalarRule& rule, ir::Builder& b, const ir::Node& n);

// --- Other rules, as functions

struct Rule {
  std::string_view name;
  bool (*of)(const ir::Traits& traits);  // the operators of the nodes that it looks at
  ir::ValueId (*apply)(ir::Builder& b, const ir::Node& n);
  Agreement agreement;
};
const std::vector<Rule>& folding_rules();
const std::vector<Rule>& elementwise_rules();
const std::vector<Rule>& movement_rules();
const std::vector<Rule>& reduction_rules();
const std::vector<Rule>& product_rules();

// The answer of the first rule that has one.
ir::ValueId apply(const std::vector<Rule>& rules, ir::Builder& b, const ir::Node& n);
ir::ValueId apply_rules(ir::Builder& b, const ir::Node& n);  // of all

// --- What rules match with

// The value of every element, where an operator says so.
std::optional<double> splat(const ir::Graph& g, ir::ValueId v);
// What a rule is of: any operator, or
inline bool any_operator(const ir::Traits&) { return true; }
// those of which it is true: has<&ir::Traits::permutation>.
template <auto Trait>
bool has(const ir::Traits& traits) {
  return static_cast<bool>(traits.*Trait);
}
// The node that defines `v` where it is true of its operator; nullptr otherwise.
template <class T>
const ir::Node* defined_by(const ir::Graph& g, ir::ValueId v, T ir::Traits::*trait) {
  const ir::Node* n = g.def(v);
  return n != nullptr && static_cast<bool>(n->op->traits.*trait) ? n : nullptr;
}
// The first operand of that node; invalid otherwise.
template <class T>
ir::ValueId operand_of(const ir::Graph& g, ir::ValueId v, T ir::Traits::*trait) {
  const ir::Node* n = defined_by(g, v, trait);
  return n != nullptr ? n->operands[0] : ir::ValueId{};
}

}  // namespace heddle::passes
