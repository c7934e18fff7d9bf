#include <map>

#include "ir/check.h"
#include "passes/simplify/expression.h"

namespace heddle::passes {
using namespace ir;

namespace {

using enum Where;
using enum Agreement;

struct Parsed {
  const ScalarRule* rule;
  Expression from, to;
};

ValueId apply(const Parsed& p, Builder& b, const Node& n) {
  Bindings bindings;
  if (!match(b.graph, p.from, n.results[0], bindings)) return {};
  const auto x = bindings.find("x");
  HEDDLE_CHECK(x != bindings.end(), p.rule->from + ": a rule holds for dtypes of x");
  if (!holds(p.rule->where, b.type(x->second).dtype)) return {};
  return build(b, p.to, bindings, n.results[0]);
}

Parsed parsed(const ScalarRule& rule) { return {&rule, parse_expression(rule.from), parse_expression(rule.to)}; }

using RulesByOperator = std::map<std::string, std::vector<Parsed>, std::less<>>;

const RulesByOperator& rules_by_operator() {
  static const RulesByOperator rules = [] {
    RulesByOperator all;
    for (const ScalarRule& rule : scalar_rules()) {
      Parsed p = parsed(rule);
      all[p.from.name].push_back(std::move(p));
    }
    return all;
  }();
  return rules;
}

}  // namespace

bool holds(Where where, DType dtype) {
  switch (where) {
    case any: return true;
    case floating: return is_floating(dtype);
    case integer: return is_integer(dtype);
    case with_sign: return is_signed(dtype);
    case truth: return dtype == DType::boolean;
  }
  return false;
}

const std::vector<ScalarRule>& scalar_rules() {
  static const std::vector<ScalarRule> rules = {
      // Neutral elements. x * 0 stays on floating values, since x may be NaN or infinite.
      {"add(x, 0)", "x", any, sign_of_zero},  // -0 + 0 is 0
      {"sub(x, 0)", "x", any, sign_of_zero},  // the constant may be -0
      {"sub(0, x)", "neg(x)", any, sign_of_zero},
      {"sub(x, x)", "0", integer, exact},
      {"mul(x, 1)", "x", any, exact},
      {"mul(x, -1)", "neg(x)", any, exact},
      {"mul(x, 0)", "0", integer, exact},
      {"div(x, 1)", "x", any, exact},
      {"div(x, -1)", "neg(x)", with_sign, exact},
      {"pow(x, 1)", "x", floating, exact},
      {"pow(x, 2)", "square(x)", floating, rounding},
      // Signs.
      {"neg(neg(x))", "x", any, exact},
      {"neg(sub(x, y))", "sub(y, x)", any, sign_of_zero},
      {"add(x, neg(y))", "sub(x, y)", any, exact},
      {"sub(x, neg(y))", "add(x, y)", any, exact},
      {"mul(neg(x), neg(y))", "mul(x, y)", any, exact},
      {"abs(abs(x))", "abs(x)", any, exact},
      {"abs(neg(x))", "abs(x)", with_sign, exact},       // -x of an unsigned x is another magnitude
      {"abs(square(x))", "square(x)", floating, exact},  // the square of an integer may wrap to a negative one
      {"abs(relu(x))", "relu(x)", floating, sign_of_zero},
      {"square(abs(x))", "square(x)", any, exact},
      {"square(neg(x))", "square(x)", any, exact},
      {"relu(relu(x))", "relu(x)", floating, exact},
      // One value twice.
      {"max(x, x)", "x", any, exact},
      {"min(x, x)", "x", any, exact},
      {"and(x, x)", "x", any, exact},
      {"or(x, x)", "x", any, exact},
      // Truth.
      {"not(not(x))", "x", any, exact},
      {"and(x, 1)", "x", truth, exact},
      {"and(x, 0)", "0", truth, exact},
      {"or(x, 0)", "x", truth, exact},
      {"or(x, 1)", "1", truth, exact},
      // Choice.
      {"select(c, x, x)", "x", any, exact},
      {"select(1, x, y)", "x", any, exact},
      {"select(0, x, y)", "y", any, exact},
      {"select(not(c), x, y)", "select(c, y, x)", any, exact},
  };
  return rules;
}

ValueId apply(const ScalarRule& rule, Builder& b, const Node& n) { return apply(parsed(rule), b, n); }

ValueId apply_scalar_rules(Builder& b, const Node& n) {
  const auto rules = rules_by_operator().find(n.op->name);
  if (rules == rules_by_operator().end()) return {};
  for (const Parsed& p : rules->second)
    if (const ValueId v = apply(p, b, n); v.valid()) return v;
  return {};
}

}  // namespace heddle::passes
