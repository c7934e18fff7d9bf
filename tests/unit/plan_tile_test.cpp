#include "ir/kernel/plan_tile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/op_def.h"
#include "ir/text/parse.h"

namespace heddle::ir {
namespace {

struct Planned {
  SourceFile file;
  Module module;
  TilePlan plan;

  explicit Planned(std::string text) : file{"test.hir", std::move(text)}, module(parse(file)) {
    plan = plan_tile(kernel());
  }
  const Graph& kernel() const { return module.kernels[0]; }
  // "x at row + column * 64, ..."
  std::string staged() const {
    const std::vector<std::string> names = {"row", "column", "matrix"};
    std::string all;
    for (const Staged& s : plan.staged)
      all += (all.empty() ? "" : ", ") + kernel()[s.value].name + " at " +
             to_string(linear_offset(s.at, kernel()[s.value].type.dims), names);
    return all;
  }
};

TEST(PlanTile, ATransposedOperandIsStaged) {
  const Planned p(R"(kernel @f(%x: f32[64,96], %z: f32[96,64]) {schedule = "tile", domain = [96,64], split = 1} {
    %t: f32[96,64] = transpose(%x) {perm = [1,0]}
    %y: f32[96,64] = add(%t, %z)
    return %y
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p.plan.space, (Dims{96, 64, 1}));
  EXPECT_EQ(to_string(p.plan.point), "d0 * 64 + d1");
  EXPECT_EQ(p.staged(), "x at row + column * 96");
  const KernelPlan plan = plan_kernel(p.kernel());
  ASSERT_TRUE(plan.ok()) << plan.reason;
  EXPECT_EQ(plan.rows, 96);
  EXPECT_EQ(plan.columns, 64);
}

// What precedes the transpose is computed once, before it: one tile for two operands.
TEST(PlanTile, TheValueBeforeTheTransposeIsStaged) {
  const Planned p(R"(kernel @f(%x: f32[64,96], %z: f32[64,96]) {schedule = "tile", domain = [96,64], split = 1} {
    %a: f32[64,96] = add(%x, %z)
    %t: f32[96,64] = transpose(%a) {perm = [1,0]}
    %y: f32[96,64] = relu(%t)
    return %y, %t
  })");
  EXPECT_EQ(p.staged(), "a at row + column * 96");
}

// %z lies along the columns already when %x does not, and must not be turned with it.
TEST(PlanTile, OnlyWhatLiesAcrossIsStaged) {
  const Planned p(R"(kernel @f(%x: f32[64,96], %z: f32[96,64]) {schedule = "tile", domain = [96,64], split = 1} {
    %zt: f32[64,96] = transpose(%z) {perm = [1,0]}
    %a: f32[64,96] = add(%x, %zt)
    %t: f32[96,64] = transpose(%a) {perm = [1,0]}
    return %t
  })");
  EXPECT_EQ(p.staged(), "x at row + column * 96");
}

// A value that varies along one side alone is read as well one way as the other.
TEST(PlanTile, ABiasBeforeTheTransposeIsNoObstacle) {
  const Planned p(R"(kernel @f(%x: f32[64,96], %b: f32[96]) {schedule = "tile", domain = [96,64], split = 1} {
    %c: f32[64,96] = broadcast(%b) {dims = [1], shape = [64,96]}
    %a: f32[64,96] = add(%x, %c)
    %t: f32[96,64] = transpose(%a) {perm = [1,0]}
    return %t
  })");
  EXPECT_EQ(p.staged(), "a at row + column * 96");
}

TEST(PlanTile, OuterDimensionsCountMatrices) {
  const Planned p(R"(kernel @f(%x: f32[3,40,50]) {schedule = "tile", domain = [3,50,40], split = 2} {
    %t: f32[3,50,40] = transpose(%x) {perm = [0,2,1]}
    return %t
  })");
  EXPECT_EQ(p.plan.space, (Dims{50, 40, 3}));
  EXPECT_EQ(p.staged(), "x at row + column * 50 + matrix * 2000");
}

// Columns of several dimensions: height and width of an image whose channels become outer ones.
TEST(PlanTile, MergedDimensionsAreOneColumn) {
  const Planned p(R"(kernel @f(%x: f32[2,5,7,16]) {schedule = "tile", domain = [2,16,5,7], split = 2} {
    %t: f32[2,16,5,7] = transpose(%x) {perm = [0,3,1,2]}
    return %t
  })");
  EXPECT_EQ(p.plan.space, (Dims{16, 35, 2}));
  EXPECT_EQ(p.staged(), "x at row + column * 16 + matrix * 560");
}

// The dimension that %x lies along is the result's first; the one between them counts matrices.
TEST(PlanTile, RowsMayBeAnOuterDimension) {
  const Planned p(R"(kernel @f(%x: f32[40,5,33]) {schedule = "tile", domain = [33,5,40], split = 2} {
    %t: f32[33,5,40] = transpose(%x) {perm = [2,1,0]}
    return %t
  })");
  EXPECT_EQ(p.plan.space, (Dims{33, 40, 5}));
  EXPECT_EQ(p.staged(), "x at row + column * 165 + matrix * 33");
  EXPECT_EQ(to_string(p.plan.point), "d0 * 200 + d1 + d2 * 40");
}

TEST(PlanTile, WithoutATransposeThereIsNothingToStage) {
  const Planned p(R"(kernel @f(%x: f32[64,96]) {schedule = "tile", domain = [64,96], split = 1} {
    %y: f32[64,96] = relu(%x)
    return %y
  })");
  EXPECT_EQ(p.plan.reason, "no operand lies along another dimension than the innermost one of the results");
  EXPECT_EQ(plan_kernel(p.kernel()).reason, p.plan.reason);
}

// Batches that change places keep their innermost dimension.
TEST(PlanTile, AnOuterTransposeIsNone) {
  const Planned p(R"(kernel @f(%x: f32[64,8,32]) {schedule = "tile", domain = [8,64,32], split = 2} {
    %y: f32[8,64,32] = transpose(%x) {perm = [1,0,2]}
    return %y
  })");
  EXPECT_FALSE(p.plan.ok());
}

TEST(PlanTile, ReductionsAreRefused) {
  const Planned p(R"(kernel @f(%x: f32[64,96,4]) {schedule = "tile", domain = [96,64], split = 1} {
    %s: f32[64,96] = reduce_sum(%x) {axes = [2]}
    %t: f32[96,64] = transpose(%s) {perm = [1,0]}
    return %t
  })");
  EXPECT_EQ(p.plan.reason, "reduce_sum is computed from other elements than the tile's");
}

TEST(PlanTile, ResultsOfAnotherSizeAreRefused) {
  const Planned p(R"(kernel @f(%x: f32[64,96]) {schedule = "tile", domain = [96,64], split = 1} {
    %t: f32[96,64] = transpose(%x) {perm = [1,0]}
    %s: f32[48,64] = slice(%t) {starts = [0,0], limits = [48,64]}
    return %s
  })");
  EXPECT_EQ(p.plan.reason, "%s has 3072 elements: not one per point of [96,64]");
}

// 48 KB hold five tiles of 32 x 33 doubles, 8,448 bytes each.
TEST(PlanTile, SharedMemoryIsBounded) {
  const auto plan = [](int tiles) {
    std::string operands, body, sum = "%z";
    for (int i = 0; i < tiles; ++i) {
      operands += fmt::format(", %x{}: f64[32,64]", i);
      body += fmt::format("%t{0}: f64[64,32] = transpose(%x{0}) {{perm = [1,0]}}\n", i);
      body += fmt::format("%s{0}: f64[64,32] = add({1}, %t{0})\n", i, sum);
      sum = fmt::format("%s{}", i);
    }
    return Planned(fmt::format("kernel @f(%z: f64[64,32]{}) {{schedule = \"tile\", domain = [64,32], split = 1}} {{\n{}"
                               "return {}\n}}",
                               operands, body, sum))
        .plan;
  };
  EXPECT_TRUE(plan(5).ok()) << plan(5).reason;
  EXPECT_EQ(plan(6).reason, "6 tiles take 50688 bytes of shared memory, of 49152");
}

TEST(TurnOf, GivesBothSides) {
  const Planned p(
      R"(kernel @f(%x: f32[40,50], %y: f32[2,8,32], %z: f32[2,5,7,16]) {schedule = "tile", domain = [50,40]} {
    %t: f32[50,40] = transpose(%x) {perm = [1,0]}
    %u: f32[8,2,32] = transpose(%y) {perm = [1,0,2]}
    %v: f32[2,16,5,7] = transpose(%z) {perm = [0,3,1,2]}
    return %t, %u, %v
  })");
  const auto turn = [&](const char* name) { return turn_of(p.kernel(), *p.kernel().def(p.kernel().find(name))); };
  ASSERT_TRUE(turn("t").has_value());
  EXPECT_EQ(turn("t")->operand, 50);
  EXPECT_EQ(turn("t")->result, 40);
  ASSERT_TRUE(turn("v").has_value());
  EXPECT_EQ(turn("v")->operand, 16);
  EXPECT_EQ(turn("v")->result, 35);     // 5 and 7 stay neighbours
  EXPECT_FALSE(turn("u").has_value());  // 32 stays innermost
}

}  // namespace
}  // namespace heddle::ir
