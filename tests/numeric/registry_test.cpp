// What every operator must have: an operator that lacks an entry fails here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;
using Missing = std::vector<std::string>;

// Replaced before anything is evaluated, or defined by a kernel's body.
bool has_structure_of_its_own(const OpDef& op) {
  return std::holds_alternative<ir::Gradient>(op.kind) || std::holds_alternative<Call>(op.kind) ||
         std::holds_alternative<ir::Scan>(op.kind);
}

// The rows of the data set are no operand: there is nothing to evaluate. tests/unit/feed_test.cpp runs it on tables.
bool reads_beyond_operands(const OpDef& op) { return op.traits.gathers_rows; }

Missing missing_documentation(const OpDef& op) {
  Missing missing;
  if (op.doc.empty()) missing.emplace_back("doc");
  for (const Key& attr : op.attrs)
    if (attr.doc.empty()) missing.push_back("doc of " + attr.name);
  return missing;
}

Missing missing_rules(const OpDef& op) {
  Missing missing;
  if (has_structure_of_its_own(op)) return missing;
  if (!op.infer) missing.emplace_back("infer");
  if (!op.eval && !reads_beyond_operands(op)) missing.emplace_back("eval");
  return missing;
}

Missing missing_gradient(const OpDef& op) {
  if (is_differentiable(op) && !op.no_gradient.empty()) return {"a reason for no gradient where there is one"};
  if (!is_differentiable(op) && op.no_gradient.empty()) return {"grad or no_gradient"};
  return {};
}

Missing missing_decomposition(const OpDef& op) {
  if (std::holds_alternative<Composite>(op.kind) == static_cast<bool>(op.decomposition)) return {};
  return {"decomposition, exactly where composite"};
}

Missing missing_expressions(const OpDef& op) {
  Missing missing;
  const auto require = [&](bool there, const char* what) {
    if (!there) missing.emplace_back(what);
  };
  if (const auto* e = std::get_if<Elementwise>(&op.kind)) require(!e->expr.empty(), "expr");
  if (const auto* s = std::get_if<Source>(&op.kind)) require(!s->expr.empty(), "expr");
  if (const auto* m = std::get_if<Movement>(&op.kind)) require(static_cast<bool>(m->maps), "maps");
  if (const auto* l = std::get_if<Lookup>(&op.kind)) require(static_cast<bool>(l->domain), "domain");
  if (const auto* c = std::get_if<Contraction>(&op.kind)) require(static_cast<bool>(c->domain), "domain");
  if (const auto* r = std::get_if<Reduction>(&op.kind)) {
    require(static_cast<bool>(r->domain), "domain");
    require(r->monoid.name != nullptr, "monoid");
    require(!r->element.empty(), "element");
    require(r->finish.size() == op.results.size(), "finish of each result");
  }
  return missing;
}

// Sizes are those of the operands and results: an operator without operands has its shapes in attributes.
Missing missing_samples(const OpDef& op) {
  Missing missing;
  if (has_structure_of_its_own(op) || reads_beyond_operands(op)) return missing;
  if (op.samples.size() < 5) missing.emplace_back("five samples");
  bool one = false, odd = false;
  for (size_t i = 0; i < op.samples.size(); ++i) {
    OneOp graph = one_op({&op, i});
    std::vector<ValueId> values = graph.inputs;
    values.insert(values.end(), graph.results.begin(), graph.results.end());
    for (const ValueId v : values)
      for (const int64_t dim : graph.graph()[v].type.dims) {
        one = one || dim == 1;
        odd = odd || (dim > 1 && dim % 2 == 1);
      }
  }
  if (!one) missing.emplace_back("a sample with a dimension of size 1");
  if (!odd) missing.emplace_back("a sample with an odd dimension above 1");
  return missing;
}

// What may be a kernel's scalar is a number of a source, an elementwise operator or, where it is whole, of a primitive
// whose call names it; its types do not depend on it.
Missing wrong_scalars(const OpDef& op) {
  Missing wrong;
  for (const Key& attr : op.attrs) {
    if (!attr.scalar) continue;
    const bool number = attr.type == KeyType::integer || attr.type == KeyType::real;
    if (!number || attr.count != Count::one) wrong.push_back("a number in " + attr.name);
    const auto* primitive = std::get_if<Primitive>(&op.kind);
    const bool called =
        primitive != nullptr && attr.type == KeyType::integer && primitive->call.find(attr.name) != std::string::npos;
    if (!std::holds_alternative<Source>(op.kind) && !std::holds_alternative<Elementwise>(op.kind) && !called)
      wrong.push_back("an expression that reads " + attr.name);
    for (const Sample& sample : op.samples) {
      OneOp graph = one_op({&op, static_cast<size_t>(&sample - op.samples.data())});
      const Node& n = *graph.graph().def(graph.results[0]);
      const Signature s = signature(graph.graph(), n);
      Attrs attrs = n.attrs;
      attrs.insert_or_assign(attr.name, ScalarName("any"));
      if (infer_types(op, s.operands, canonical_attrs(op, attrs)) != s.results)
        wrong.push_back("types of " + attr.name);
    }
  }
  return wrong;
}

class Operator : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Operator, IsDocumented) { EXPECT_EQ(missing_documentation(*GetParam()), Missing{}); }
TEST_P(Operator, HasAShapeRuleAndAnOracle) { EXPECT_EQ(missing_rules(*GetParam()), Missing{}); }
TEST_P(Operator, HasAGradientOrTheReasonWhyNot) { EXPECT_EQ(missing_gradient(*GetParam()), Missing{}); }
TEST_P(Operator, HasADecompositionExactlyWhenComposite) { EXPECT_EQ(missing_decomposition(*GetParam()), Missing{}); }
TEST_P(Operator, HasAnExpressionWhenGenerated) { EXPECT_EQ(missing_expressions(*GetParam()), Missing{}); }
TEST_P(Operator, TakesScalarsThatNoTypeDependsOn) { EXPECT_EQ(wrong_scalars(*GetParam()), Missing{}); }
TEST_P(Operator, HasSamplesOfSizeOneAndOfOddSizes) { EXPECT_EQ(missing_samples(*GetParam()), Missing{}); }

INSTANTIATE_TEST_SUITE_P(Registry, Operator, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param->name; });

// --- The checks themselves: what is taken from a complete operator is missed.

template <class Check, class Change>
Missing without(Check check, const char* name, Change change) {
  OpDef op = op_def(name);
  change(op);
  return check(op);
}

TEST(IncompleteOperator, LacksDocumentation) {
  EXPECT_EQ(without(missing_documentation, "add", [](OpDef& op) { op.doc.clear(); }), Missing{"doc"});
  EXPECT_EQ(without(missing_documentation, "clamp", [](OpDef& op) { op.attrs[0].doc.clear(); }),
            Missing{"doc of " + op_def("clamp").attrs[0].name});
}

TEST(IncompleteOperator, LacksAShapeRuleOrAnOracle) {
  EXPECT_EQ(without(missing_rules, "add", [](OpDef& op) { op.infer = nullptr; }), Missing{"infer"});
  EXPECT_EQ(without(missing_rules, "add", [](OpDef& op) { op.eval = nullptr; }), Missing{"eval"});
}

TEST(IncompleteOperator, LacksAGradientOrTheReasonWhyNot) {
  EXPECT_EQ(without(missing_gradient, "add", [](OpDef& op) { op.grad = nullptr; }), Missing{"grad or no_gradient"});
  EXPECT_EQ(without(missing_gradient, "argmax", [](OpDef& op) { op.no_gradient.clear(); }),
            Missing{"grad or no_gradient"});
  EXPECT_EQ(without(missing_gradient, "add", [](OpDef& op) { op.no_gradient = "none"; }).size(), 1U);
}

TEST(IncompleteOperator, LacksAnExpansion) {
  EXPECT_EQ(without(missing_decomposition, "softmax", [](OpDef& op) { op.decomposition = nullptr; }).size(), 1U);
  EXPECT_EQ(without(missing_decomposition, "add", [](OpDef& op) { op.decomposition = op_def("softmax").decomposition; })
                .size(),
            1U);
}

TEST(IncompleteOperator, LacksAnExpression) {
  const auto lack = [](const char* name, auto change) { return without(missing_expressions, name, change); };
  EXPECT_EQ(lack("add", [](OpDef& op) { std::get<Elementwise>(op.kind).expr.clear(); }), Missing{"expr"});
  EXPECT_EQ(lack("iota", [](OpDef& op) { std::get<Source>(op.kind).expr.clear(); }), Missing{"expr"});
  EXPECT_EQ(lack("slice", [](OpDef& op) { std::get<Movement>(op.kind).maps = nullptr; }), Missing{"maps"});
  EXPECT_EQ(lack("matmul", [](OpDef& op) { std::get<Contraction>(op.kind).domain = nullptr; }), Missing{"domain"});
  EXPECT_EQ(lack("reduce_sum", [](OpDef& op) { std::get<Reduction>(op.kind) = {}; }),
            (Missing{"domain", "monoid", "element", "finish of each result"}));
}

TEST(IncompleteOperator, TakesScalarsItCannot) {
  const auto wrong = [](const char* name, size_t attr) {
    return without(wrong_scalars, name, [&](OpDef& op) {
      op.samples.clear();
      op.attrs[attr].scalar = true;
    });
  };
  EXPECT_EQ(wrong("constant", 1), Missing{"a number in shape"});
  EXPECT_EQ(wrong("pad", 3), Missing{"an expression that reads fill"});
}

TEST(IncompleteOperator, LacksSamples) {
  EXPECT_EQ(without(missing_samples, "neg", [](OpDef& op) { op.samples.resize(4); }).front(), "five samples");
  const auto keep = [](const Dims& dims) {
    return without(missing_samples, "neg", [&](OpDef& op) { op.samples.assign(5, {.shapes = {dims}}); });
  };
  EXPECT_EQ(keep({4, 3}), Missing{"a sample with a dimension of size 1"});
  EXPECT_EQ(keep({4, 1}), Missing{"a sample with an odd dimension above 1"});
  EXPECT_EQ(keep({1, 3}), Missing{});
}

}  // namespace
}  // namespace heddle::testing
