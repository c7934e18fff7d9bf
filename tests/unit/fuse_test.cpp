#include "passes/fuse/fuse.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/evaluate/evaluate.h"
#include "ir/verify/verify.h"

namespace heddle::passes {
namespace {

using namespace ir;

// A chain of `length` operators on a vector of `elements`.
Module chain(int length, int64_t elements) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  ValueId v = g.add_input("x", {DType::f32, {elements}}, Role::input);
  for (int i = 0; i < length; ++i) v = b(i % 2 == 0 ? "sin" : "neg", {v});
  g.outputs = {v};
  return m;
}

TEST(Fuse, KernelsAreBoundedInOperators) {
  Module m = chain(200, 4096);
  fuse(m, {});
  EXPECT_TRUE(verify(m).empty());
  EXPECT_GE(m.graphs[0].order.size(), 4U);  // 200 operators, at most 64 a kernel; equal bodies share one
  EXPECT_LE(m.graphs[0].order.size(), 7U);
  for (const Graph& k : m.kernels) EXPECT_LE(k.order.size(), 64U) << k.name;
}

// A concatenation of computed values reads each of them, and each of their kernels might compute it.
TEST(Fuse, TriesALargeKernelWithSomeOfItsPartnersOnly) {
  constexpr int kParts = 150;
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  std::vector<ValueId> parts;
  for (int i = 0; i < kParts; ++i)
    parts.push_back(b("tanh", {g.add_input("x", {DType::f32, {1024, 64}}, Role::input)}));
  g.outputs = {b("exp", {b("concat", parts, {{"axis", int64_t{1}}})})};
  int longer = 0, left = 0;
  Options options;
  options.remark = [&](const Remark& r) {
    longer += r.reason.find("it would take longer") != std::string::npos;
    left += r.reason.find("too many others were tried") != std::string::npos;
  };
  fuse(m, options);
  EXPECT_GT(longer, 0);
  EXPECT_LT(longer, kParts / 4);
  EXPECT_GT(left, kParts / 2);
  EXPECT_TRUE(verify(m).empty());
}

// What a kernel's arguments hold: hundreds of joined values are joined first, and not by each reader again.
TEST(Fuse, KernelsAreBoundedInPointers) {
  constexpr size_t kPointers = 500;
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  std::vector<ValueId> joined;
  for (int i = 0; i < 3; ++i) {
    std::vector<ValueId> parts;
    for (int k = 0; k < 400; ++k) parts.push_back(g.add_input("x", {DType::f32, {4, 1}}, Role::input));
    joined.push_back(b("concat", parts, {{"axis", int64_t{1}}}));
  }
  const ValueId whole = b("concat", joined, {{"axis", int64_t{1}}});
  g.outputs = {b("exp", {whole}), b("add", {b("exp", {joined[0]}), b("tanh", {joined[1]})})};
  for (int i = 0; i < 300; ++i)  // small kernels of three pointers that read one value
    g.outputs.push_back(
        b("reduce_sum", {b("mul", {joined[2], g.add_input("y", {DType::f32, {4, 400}}, Role::input)})}));
  fuse(m, {});
  EXPECT_TRUE(verify(m).empty());
  for (const Graph& k : m.kernels) EXPECT_LE(k.inputs.size() + k.outputs.size(), kPointers) << k.name;
}

// Each part has few values to read, all together have not.
TEST(Fuse, KernelsOfSeveralJoinedValuesAreBoundedInPointers) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  std::vector<ValueId> joined;
  for (int i = 0; i < 4; ++i) {
    std::vector<ValueId> parts;
    for (int k = 0; k < 250; ++k) parts.push_back(g.add_input("x", {DType::f32, {4, 1}}, Role::input));
    joined.push_back(b("concat", parts, {{"axis", int64_t{1}}}));
  }
  g.outputs = {b("concat", joined, {{"axis", int64_t{1}}}),
               b("select", {b("gt", {joined[0], joined[1]}), joined[2], joined[3]})};
  fuse(m, {});
  EXPECT_TRUE(verify(m).empty());
  for (const Graph& k : m.kernels) EXPECT_LE(k.inputs.size() + k.outputs.size(), 500U) << k.name;
}

TEST(Fuse, GivesTheSameKernelsEveryTime) {
  Module a = chain(100, 1000), b = chain(100, 1000);
  fuse(a, {});
  fuse(b, {});
  EXPECT_TRUE(structurally_equal(a, b));
}

TEST(Fuse, SecondRunChangesNothing) {
  Module m = chain(10, 1000);
  EXPECT_TRUE(fuse(m, {}));
  Module again = m;
  EXPECT_FALSE(fuse(again, {}));
  EXPECT_TRUE(structurally_equal(m, again));
}

// Two kernels that just fit a cache, and one that just does not: their common bytes are saved all the same.
TEST(Fuse, MergesAcrossTheSizeOfTheCache) {
  const Target target = host();
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const int64_t elements = target.cache_bytes / 4 / 4;  // a quarter of the cache
  const Type type{DType::f32, {elements}};
  const ValueId x = g.add_input("x", type, Role::input);
  const ValueId y = g.add_input("y", type, Role::input);
  const ValueId z = g.add_input("z", type, Role::input);
  const ValueId s = b("add", {x, y});
  g.outputs = {s, b("mul", {s, z})};
  fuse(m, {.target = target, .libraries = {}, .remark = {}});
  EXPECT_EQ(m.kernels.size(), 1U);
}

TEST(Fuse, NamesTheReasonOfEachEdge) {
  Module m;
  Graph& g = m.graphs.emplace_back();
  g.name = "f";
  Builder b(g);
  const ValueId x = g.add_input("x", {DType::f32, {100000}}, Role::input);
  const ValueId total = b("reduce_sum", {x}, {}, "total");
  g.outputs = {b("div", {x, b.broadcast_to(total, {100000})}, {}, "y")};
  std::vector<Remark> remarks;
  fuse(m, {.target = host(), .libraries = {}, .remark = [&](const Remark& r) { remarks.push_back(r); }});
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].subject, "%total -> %y");
  EXPECT_NE(remarks[0].reason.find("not fused"), std::string::npos);
}

}  // namespace
}  // namespace heddle::passes
