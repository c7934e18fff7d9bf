// The rules of simplify. Each rule looks at one node with one result. It builds and returns a value that can replace
// the result; if it does not apply, it builds nothing and returns an invalid id.
//
//   {"neg(neg(x))", "x"}   %b = neg(%a) with %a = neg(%x)   ->   %x
//
// tests/numeric/simplify_rules_test.cpp proves every rule. It proves a scalar rule from its text, over all values of
// the small dtypes and the edges of the others. It checks any other rule on random graphs that it has for the rule's
// name, and fails for a rule without such graphs.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace heddle::passes {

// How much the result of a rule may differ from the value that it replaces. The payload of NaN may always differ.
enum class Agreement {
  exact,
  sign_of_zero,
  rounding,  // the same real number, but rounded fewer times or at other places
};

// --- Rules of elementwise operators, as expressions

// The dtypes of x for which a rule holds.
enum class Where { any, floating, integer, with_sign, truth };
bool holds(Where where, ir::DType dtype);

struct ScalarRule {
  std::string from, to;  // in the syntax of passes/simplify/expression.h
  Where where;
  Agreement agreement;
};
const std::vector<ScalarRule>& scalar_rules();  // the first rule that matches is applied
ir::ValueId apply_scalar_rules(ir::Builder& b, const ir::Node& n);
ir::ValueId apply(const ScalarRule& rule, ir::Builder& b, const ir::Node& n);

// --- Other rules, as functions

struct Rule {
  std::string_view name;
  bool (*of)(const ir::Traits& traits);  // whether the rule looks at nodes of an operator with these traits
  ir::ValueId (*apply)(ir::Builder& b, const ir::Node& n);
  Agreement agreement;
};
const std::vector<Rule>& folding_rules();
const std::vector<Rule>& elementwise_rules();
const std::vector<Rule>& movement_rules();
const std::vector<Rule>& reduction_rules();
const std::vector<Rule>& product_rules();

// The result of the first rule that applies; invalid if none does.
ir::ValueId apply(const std::vector<Rule>& rules, ir::Builder& b, const ir::Node& n);
ir::ValueId apply_rules(ir::Builder& b, const ir::Node& n);  // with all rules, the scalar ones last

// --- Helpers to match nodes

// The number in all elements of `v`, if its operator says that they are equal (a constant).
std::optional<double> splat(const ir::Graph& g, ir::ValueId v);
// Predicates for Rule::of. Accepts any operator.
inline bool any_operator(const ir::Traits&) { return true; }
// Accepts operators with the trait: has<&ir::Traits::permutation>.
template <auto Trait>
bool has(const ir::Traits& traits) {
  return static_cast<bool>(traits.*Trait);
}
// The node that defines `v`, if its operator has the trait; otherwise nullptr.
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
