// One-operator graphs as text: parse(print(m)) is structurally equal to m, for every operator on every sample.
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "ir/verify/verify.h"
#include "tests/numeric/harness.h"

namespace heddle::testing {
namespace {

using namespace ir;

class Text : public ::testing::TestWithParam<Case> {};

TEST_P(Text, ParsesBack) {
  const OneOp one = one_op(GetParam());
  EXPECT_EQ(verify(one.module), std::vector<std::string>{});
  const SourceFile file{"case.hir", print(one.module)};
  const Module parsed = parse(file);
  EXPECT_TRUE(structurally_equal(parsed, one.module)) << file.text;
  EXPECT_EQ(print(parsed), file.text);
}

// Attributes that differ must not compare equal, or the test above says nothing.
TEST(TextComparison, DistinguishesAttributes) {
  const OneOp a = one_op({find_op("transpose"), 0}), b = one_op({find_op("transpose"), 5});
  EXPECT_FALSE(structurally_equal(a.module, b.module));
}

INSTANTIATE_TEST_SUITE_P(Operators, Text, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace heddle::testing
