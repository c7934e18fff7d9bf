#include "passes/flatten/update_pattern.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace heddle::passes {
namespace {
using namespace ir;

// w <- exp(exp(... w)), `length` times.
Graph chain(int length) {
  Graph g;
  Builder b(g);
  const ValueId w = g.add_input("w", {DType::f32, {8}}, Role::param);
  ValueId next = w;
  for (int i = 0; i < length; ++i) next = b("exp", {next});
  g.updates.push_back({w, next});
  return g;
}

// No optimizer's rule is that long, and a rule is written down by recursion.
TEST(UpdatePatterns, EndAfterALongRule) {
  EXPECT_EQ(update_patterns(chain(256)).sets.size(), 1U);
  EXPECT_EQ(update_patterns(chain(257)).sets.size(), 0U);
}

}  // namespace
}  // namespace heddle::passes
