// Every function of the preamble that an operator's expression calls has been counted.
#include "ir/kernel/count/scalar_instructions.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/op_def.h"
#include "ir/visit.h"

namespace heddle::ir {
namespace {

std::vector<std::string> expressions(const OpDef& op) {
  return visit_kind(
      op, [](const OneOf<Source, Elementwise> auto& kind) { return std::vector<std::string>{kind.expr}; },
      [](const Reduction& r) {
        std::vector<std::string> all = r.finish;
        all.push_back(r.element);
        return all;
      },
      [](const OneOf<Movement, Lookup, Contraction, Primitive, Composite, Gradient, Call, Scan> auto&) {
        return std::vector<std::string>{};
      });
}

// One that is not known fails the check inside, by its name.
TEST(ScalarInstructions, AreKnownOfEveryOperator) {
  int calls = 0;
  for (const OpDef* op : all_ops())
    for (const std::string& expr : expressions(*op)) {
      SCOPED_TRACE(op->name);
      const bool calling = expr.find("hd::") != std::string::npos;
      EXPECT_GE(scalar_instructions(expr), calling ? 1 : 0) << expr;
      calls += calling ? 1 : 0;
    }
  EXPECT_GT(calls, 40);
}

TEST(ScalarInstructions, AreThoseOfFunctionsAndOperators) {
  EXPECT_EQ(scalar_instructions("x > T(0) ? x : T(slope) * x"), 3);
  EXPECT_EQ(scalar_instructions("hd::exp(x)"), 15);
  EXPECT_EQ(scalar_instructions("hd::rsqrt(x) + hd::popcnt(y)"), 1 + 1 + 3);
  EXPECT_EQ(scalar_instructions("hd::max(x, T(0))"), 2);  // beside a constant no comparison with nan
}

}  // namespace
}  // namespace heddle::ir
