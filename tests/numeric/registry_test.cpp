// What every operator must have: an operator that lacks an entry fails here.
#include <gtest/gtest.h>

#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

bool has_structure_of_its_own(const OpDef& op) {
  return std::holds_alternative<ir::Gradient>(op.kind) || std::holds_alternative<Call>(op.kind);
}

class Operator : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(Operator, IsDocumented) {
  const OpDef& op = *GetParam();
  EXPECT_FALSE(op.doc.empty());
  for (const AttrDef& attr : op.attrs) EXPECT_FALSE(attr.doc.empty()) << attr.name;
}

TEST_P(Operator, HasAShapeRuleAndAnOracle) {
  const OpDef& op = *GetParam();
  if (has_structure_of_its_own(op)) return;  // replaced before anything is evaluated, or defined by a kernel's body
  EXPECT_TRUE(op.infer);
  EXPECT_TRUE(op.eval);
}

TEST_P(Operator, HasAGradientOrTheReasonWhyNot) {
  const OpDef& op = *GetParam();
  EXPECT_NE(is_differentiable(op), !op.no_gradient.empty());
}

TEST_P(Operator, HasAnExpansionExactlyWhenComposite) {
  EXPECT_EQ(std::holds_alternative<Composite>(GetParam()->kind), static_cast<bool>(GetParam()->expansion));
}

TEST_P(Operator, HasAnExpressionWhenGenerated) {
  if (const auto* e = std::get_if<Elementwise>(&GetParam()->kind)) {
    EXPECT_FALSE(e->expr.empty());
  }
  if (const auto* s = std::get_if<Source>(&GetParam()->kind)) {
    EXPECT_FALSE(s->expr.empty());
  }
  if (const auto* m = std::get_if<Movement>(&GetParam()->kind)) {
    EXPECT_TRUE(m->maps);
  }
  if (const auto* c = std::get_if<Contraction>(&GetParam()->kind)) {
    EXPECT_TRUE(c->domain);
  }
  if (const auto* r = std::get_if<Reduction>(&GetParam()->kind)) {
    EXPECT_TRUE(r->domain);
    EXPECT_EQ(r->finish.size(), GetParam()->results.size());
  }
}

// Sizes are those of the operands and results: an operator without operands has its shapes in attributes.
TEST_P(Operator, HasSamplesOfSizeOneAndOfOddSizes) {
  const OpDef& op = *GetParam();
  if (has_structure_of_its_own(op)) return;
  EXPECT_GE(op.samples.size(), 5u);
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
  EXPECT_TRUE(one) << "no dimension of size 1";
  EXPECT_TRUE(odd) << "no odd dimension above 1";
}

INSTANTIATE_TEST_SUITE_P(Registry, Operator, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace heddle::testing
