#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "ir/kernel/columns_meet.h"
#include "ir/kernel/plan_kernel.h"
#include "ir/op_def.h"
#include "ir/text/parse.h"

namespace heddle::ir {
namespace {

// A kernel parsed from text, with the plan of its values by name.
struct Planned {
  SourceFile file;
  Module module;
  KernelPlan plan;

  explicit Planned(std::string text) : file{"test.hir", std::move(text)}, module(parse(file)) {
    plan = plan_kernel(module.kernels[0]);
  }
  const ValuePlan& operator[](std::string_view name) const { return plan.of(module.kernels[0].find(name)); }
};

TEST(KernelSchedule, AttributesReadBack) {
  schedules::Rows rows;
  rows.domain = {64, 128}, rows.split = 1;
  rows.threads = 128, rows.team = 32, rows.vector_width = 4, rows.prefetch_distance = 4, rows.index = 64;
  rows.blocks = 16, rows.cached = true;
  EXPECT_EQ(rows.rows(), 64);
  EXPECT_EQ(rows.columns(), 128);
  schedules::Product product;
  product.tile = {64, 32, 16}, product.stages = 3, product.split_k = 2;
  product.precision = ProductPrecision::bf16;
  const schedules::LibraryCall call{
      .contraction = true, .impl = "onednn", .batch_split = 4, .precision = ProductPrecision::f16};
  for (const KernelSchedule& schedule : {KernelSchedule{.how = rows, .workspace = 4096}, KernelSchedule{.how = product},
                                         KernelSchedule{.how = call}, KernelSchedule{.how = schedules::LibraryCall{}}})
    EXPECT_EQ(schedule_from_attrs(to_attrs(schedule)), schedule);
  EXPECT_EQ(to_attrs(KernelSchedule{.how = rows, .workspace = 4096}).size(), 11u);
  EXPECT_EQ(to_attrs(KernelSchedule{}).size(), 1u);  // defaults are left out: `schedule` alone
}

// What another schedule has is not lost: the verifier says why it is refused. A default says nothing.
TEST(KernelSchedule, AttributesOfOtherSchedules) {
  const KernelSchedule rows =
      schedule_from_attrs({{"schedule", std::string("rows")}, {"split_k", int64_t{2}}, {"stages", int64_t{1}}});
  EXPECT_EQ(rows.misplaced, (Attrs{{"split_k", int64_t{2}}}));
  EXPECT_EQ(schedule_conflict(rows, {}), "tile, stages and split_k are those of schedule contract");
  EXPECT_EQ(schedule_from_attrs(to_attrs(rows)), rows);
}

// Of few columns many lanes share one; where there are more columns than threads, each lane has its own.
TEST(ColumnsMeet, InTheFewestTurns) {
  const auto meet = [](int64_t blocks, int64_t columns, int64_t bytes) {
    const ColumnsMeet m = columns_meet(/*threads=*/128, blocks, columns, bytes);
    return std::tuple(m.shares, m.at_once, m.abreast, m.turns);
  };
  EXPECT_EQ(meet(132, 64, 4), std::tuple(2, 66, 1, 1));
  EXPECT_EQ(meet(132, 128, 4), std::tuple(1, 66, 1, 2));
  EXPECT_EQ(meet(16, 256, 4), std::tuple(1, 16, 2, 1));  // two columns of each lane
  EXPECT_EQ(meet(8, 32, 4), std::tuple(4, 2, 1, 1));
  EXPECT_EQ(meet(132, 10, 8), std::tuple(8, 17, 1, 1));
  EXPECT_EQ(meet(132, 64, 8), std::tuple(2, 33, 1, 2));  // of 8 bytes half as many at once
  EXPECT_EQ(meet(1, 5, 4), std::tuple(1, 1, 1, 1));
  EXPECT_LE(columns_meet(/*threads=*/1024, 132, 512, 4).at_once, 32);  // each has fewer registers
  const ColumnsMeet host = columns_meet(/*threads=*/1, 8, 64, 4);      // one after the other
  EXPECT_EQ(std::tuple(host.shares, host.at_once), std::tuple(1, 1));
}

// Where one block would need many turns for all, groups of about as many blocks as there are groups need few.
TEST(ColumnsMeet, InGroupsWhereThatSavesTurns) {
  EXPECT_EQ(blocks_gather(/*threads=*/128, 132, 64, {4, 4}), 132);  // two turns
  EXPECT_EQ(blocks_gather(128, 8, 512, {4, 4}), 8);
  const int64_t gather = blocks_gather(128, 132, 512, {4, 4});
  EXPECT_LE(columns_meet(128, gather, 512, 4).turns, 1);
  EXPECT_LE(columns_meet(128, (132 + gather - 1) / gather, 512, 4).turns, 1);
  EXPECT_EQ(blocks_gather(1, 64, 4096, {4}), 64);  // the host adds in its own order
  EXPECT_EQ(blocks_gather(128, 132, 512, {}), 132);
}

// What blocks_gather finds without trying everything is what trying everything finds.
int64_t gather_by_trying_all(int64_t threads, int64_t blocks, int64_t columns, const std::vector<int64_t>& bytes) {
  const auto turns = [&](int64_t count) {
    int64_t all = 0;
    for (const int64_t b : bytes) all += columns_meet(threads, count, columns, b).turns;
    return all;
  };
  constexpr int64_t kWorth = 3;
  const int64_t at_once = turns(blocks);
  int64_t best = blocks;
  std::tuple<int64_t, int64_t> least{at_once - kWorth + 1, 0};
  for (int64_t gather = 2; gather < blocks; ++gather) {
    const int64_t groups = (blocks + gather - 1) / gather;
    const std::tuple<int64_t, int64_t> both{turns(gather) + turns(groups), gather + groups};
    if (both < least) best = gather, least = both;
  }
  return best;
}
TEST(ColumnsMeet, InTheGroupsOfTheFewestTurns) {
  const std::vector<std::vector<int64_t>> reductions = {{4}, {8, 4}, {4, 4, 2}, {16}};
  for (const int64_t threads : {32, 128, 512, 1024})
    for (const int64_t blocks : {2, 9, 66, 132})
      for (const int64_t columns : {1, 64, 300, 512, 4096})
        for (const std::vector<int64_t>& bytes : reductions)
          EXPECT_EQ(blocks_gather(threads, blocks, columns, bytes),
                    gather_by_trying_all(threads, blocks, columns, bytes))
              << threads << " threads, " << blocks << " blocks, " << columns << " columns";
}

TEST(KernelSchedule, UnknownAttributesAreRefused) {
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("sideways")}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"teams", int64_t{2}}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"team", int64_t{0}}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"team", true}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"split", int64_t{1}}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"index", int64_t{48}}}), InferError);
  EXPECT_THROW(schedule_from_attrs({{"schedule", std::string("rows")}, {"precision", std::string("i8")}}), InferError);
  EXPECT_THROW(schedule_from_attrs({}), InferError);
}

TEST(PlanKernel, SoftmaxTakesThreePassesOverARow) {
  const Planned p(R"(kernel @softmax(%x: f32[64,128]) {schedule = "rows", domain = [64,128], split = 1} {
    %max: f32[64] = reduce_max(%x) {axes = [1]}
    %max.all: f32[64,128] = broadcast(%max) {dims = [0], shape = [64,128]}
    %shifted: f32[64,128] = sub(%x, %max.all)
    %e: f32[64,128] = exp(%shifted)
    %sum: f32[64] = reduce_sum(%e) {axes = [1]}
    %sum.all: f32[64,128] = broadcast(%sum) {dims = [0], shape = [64,128]}
    %y: f32[64,128] = div(%e, %sum.all)
    return %y
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p.plan.phases, 3);
  EXPECT_EQ(p["max"].reduction, ReductionPlan::row);
  EXPECT_EQ(p["max.all"].extent, Extent::row);
  EXPECT_EQ(p["e"].extent, Extent::full);
  EXPECT_EQ(p["e"].phase, 1);
  EXPECT_EQ(p["y"].phase, 2);
}

TEST(PlanKernel, ColumnSumsMayBeScaledAndReshapedOnly) {
  const Planned p(
      R"(kernel @bias_grad(%y: f32[64,32], %dy: f32[64,32]) {schedule = "rows", domain = [64,32], split = 1, blocks = 8} {
    %zero: f32[64,32] = constant() {shape = [64,32]}
    %positive: bool[64,32] = gt(%y, %zero)
    %dx: f32[64,32] = select(%positive, %dy, %zero)
    %db: f32[32] = reduce_sum(%dx) {axes = [0]}
    %db.row: f32[1,32] = reshape(%db) {shape = [1,32]}
    return %dx, %db.row
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["db"].reduction, ReductionPlan::column);
  EXPECT_TRUE(p["db.row"].finishing);
  EXPECT_EQ(p.plan.partial_bytes, 8 * 32 * 4);
  EXPECT_EQ(p["zero"].extent, Extent::scalar);
}

TEST(PlanKernel, ATotalThatThePointsNeedIsRefused) {
  const Planned p(R"(kernel @f(%x: f32[64,32]) {schedule = "rows", domain = [64,32], split = 1, blocks = 8} {
    %sum: f32[] = reduce_sum(%x) {axes = [0,1]}
    %all: f32[64,32] = broadcast(%sum) {dims = [], shape = [64,32]}
    %y: f32[64,32] = sub(%x, %all)
    return %y
  })");
  EXPECT_EQ(p.plan.reason, "%sum reduces 2048 elements: every block would repeat it");
}

TEST(PlanKernel, RowValuesAreRefusedAtOtherRows) {
  const Planned p(R"(kernel @f(%x: f32[8,8]) {schedule = "rows", domain = [8,8], split = 1} {
    %sum: f32[8] = reduce_sum(%x) {axes = [1]}
    %all: f32[8,8] = broadcast(%sum) {dims = [1], shape = [8,8]}
    %y: f32[8,8] = sub(%x, %all)
    return %y
  })");
  EXPECT_EQ(p.plan.reason, "%sum is one per row, but is needed at other rows");
}

// The sum of row r is there while row r is visited, not before.
TEST(PlanKernel, RowValuesAreRefusedTurnedAround) {
  const Planned p(R"(kernel @f(%x: f32[8,6]) {schedule = "rows", domain = [8,6], split = 1} {
    %sum: f32[8] = reduce_sum(%x) {axes = [1]}
    %back: f32[8] = reverse(%sum) {axes = [0]}
    %all: f32[8,6] = broadcast(%back) {dims = [0], shape = [8,6]}
    %y: f32[8,6] = sub(%x, %all)
    return %y
  })");
  EXPECT_EQ(p.plan.reason, "%sum is one per row, but is needed at other rows");
}

TEST(PlanKernel, ColumnSumsAreRefusedAtOtherColumns) {
  const Planned p(R"(kernel @f(%x: f32[64,32]) {schedule = "rows", domain = [64,32], split = 1, blocks = 8} {
    %sum: f32[32] = reduce_sum(%x) {axes = [0]}
    %back: f32[32] = reverse(%sum) {axes = [0]}
    return %back
  })");
  EXPECT_EQ(p.plan.reason, "%sum is one per column, but is needed at other columns");
}

// What is reduced again is no column sum: it would be complete only in the last block.
TEST(PlanKernel, AColumnSumThatIsReducedIsALoop) {
  const Planned p(R"(kernel @f(%x: f32[64,32]) {schedule = "rows", domain = [64,32], split = 1, blocks = 8} {
    %row: f32[64] = reduce_max(%x) {axes = [1]}
    %sum: f32[32] = reduce_sum(%x) {axes = [0]}
    %most: f32[] = reduce_max(%sum)
    return %row, %most
  })");
  EXPECT_EQ(p.plan.reason, "%sum is reduced inside another reduction's loop");
}

// A window over a whole padded row has as many points as the row, but not its elements.
TEST(PlanKernel, AWindowWithPaddingIsALoop) {
  const Planned p(R"(kernel @f(%x: f32[4,3,3,1]) {schedule = "rows", domain = [4,9], split = 1} {
    %max: f32[4] = reduce_max(%x) {axes = [1,2,3]}
    %y: f32[4,1,1,1], %i: i32[4,1,1,1] = max_pool2d(%x) {window = [3,3], pads = [1,1,0,0], strides = [3,3]}
    return %max, %y
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["max"].reduction, ReductionPlan::row);
  EXPECT_EQ(p["y"].reduction, ReductionPlan::inner);
}

TEST(PlanKernel, RowLossesAddUpToATotal) {
  const Planned p(R"(kernel @f(%x: f32[64,10]) {schedule = "rows", domain = [64,10], split = 1, blocks = 4} {
    %max: f32[64] = reduce_max(%x) {axes = [1]}
    %loss: f32[] = reduce_mean(%max) {axes = [0]}
    %twice: f32[] = add(%loss, %loss)
    return %max, %twice
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["max"].reduction, ReductionPlan::row);
  EXPECT_EQ(p["loss"].reduction, ReductionPlan::total);
  EXPECT_TRUE(p["twice"].finishing);
}

TEST(PlanKernel, ATotalOfAFlatDomainRunsAlongOneRow) {
  const Planned p(R"(kernel @norm(%g: f32[5000]) {schedule = "rows", domain = [5000], split = 1, blocks = 4} {
    %sq: f32[5000] = square(%g)
    %sum: f32[] = reduce_sum(%sq) {axes = [0]}
    return %sum
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["sum"].reduction, ReductionPlan::total);
  EXPECT_EQ(p.plan.rows, 1);
  EXPECT_EQ(p.plan.columns, 5000);
}

TEST(PlanKernel, PoolingIsALoopInsideEachPoint) {
  const Planned p(R"(kernel @pool(%x: f32[2,6,6,4]) {schedule = "pointwise", domain = [2,3,3,4], split = 3} {
    %zero: f32[2,6,6,4] = constant() {shape = [2,6,6,4]}
    %r: f32[2,6,6,4] = max(%x, %zero)
    %y: f32[2,3,3,4], %i: i32[2,3,3,4] = max_pool2d(%r) {window = [2,2]}
    return %y, %i
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["y"].reduction, ReductionPlan::inner);
  EXPECT_EQ(p.plan.columns, 4);  // the widest row in which no access divides by the column
}

TEST(PlanKernel, WholeArraysAreOneRow) {
  const Planned p(R"(kernel @f(%x: f32[8,6,4], %s: f32[]) {schedule = "pointwise", domain = [8,6,4], split = 2} {
    %all: f32[8,6,4] = broadcast(%s) {dims = [], shape = [8,6,4]}
    %y: f32[8,6,4] = mul(%x, %all)
    return %y
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p.plan.rows, 1);
  EXPECT_EQ(p.plan.columns, 192);
  EXPECT_EQ(p["all"].extent, Extent::scalar);
}

TEST(PlanKernel, AResultOfAnotherSizeIsRefused) {
  const Planned p(R"(kernel @f(%x: f32[8,6]) {schedule = "pointwise", domain = [8,6], split = 1} {
    %y: f32[4,6] = slice(%x) {starts = [0,0], limits = [4,6]}
    return %y
  })");
  EXPECT_EQ(p.plan.reason, "%y has 24 elements: not one per point of [8,6]");
}

TEST(PlanKernel, AReductionNeitherAlongRowsNorColumnsIsALoop) {
  const Planned p(R"(kernel @f(%x: f32[8,3,6]) {schedule = "rows", domain = [8,6], split = 1} {
    %s: f32[8,6] = reduce_sum(%x) {axes = [1]}
    %m: f32[8] = reduce_max(%s) {axes = [1]}
    return %m
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_EQ(p["s"].reduction, ReductionPlan::inner);
  EXPECT_EQ(p["m"].reduction, ReductionPlan::row);
}

// Each array of partial results behind the one before it, on 16 bytes.
TEST(PlanKernel, PartialResultsLieApart) {
  const Planned p(
      R"(kernel @f(%x: f32[64,5], %i: i32[64,5]) {schedule = "rows", domain = [64,5], split = 1, blocks = 3} {
    %s: f32[5] = reduce_sum(%x) {axes = [0]}
    %t: f32[] = reduce_sum(%x)
    %a: i32[] = reduce_max(%i)
    return %s, %t, %a
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  ASSERT_EQ(p.plan.partials.size(), 3u);
  EXPECT_EQ(p.plan.partials[0].offset, 0);
  EXPECT_EQ(p.plan.partials[0].width, 5);
  EXPECT_EQ(p.plan.partials[1].offset, 64);  // 3 blocks of 5 sums of 4 bytes are 60
  EXPECT_EQ(p.plan.partials[1].width, 1);
  EXPECT_EQ(p.plan.partials[2].offset, 80);
  EXPECT_EQ(p.plan.partial_bytes, 96);
  EXPECT_EQ(p.plan.most_blocks, 3);
}

// A value is kept at one index. Turned around, it is another element.
TEST(PlanKernel, KeepsWhatIsNeededInItsPlace) {
  const Planned p(R"(kernel @f(%x: f32[8,4]) {schedule = "rows", domain = [8,4], split = 1, cached = true} {
    %e: f32[8,4] = exp(%x)
    %s: f32[8] = reduce_sum(%e) {axes = [1]}
    %all: f32[8,4] = broadcast(%s) {dims = [0], shape = [8,4]}
    %y: f32[8,4] = div(%e, %all)
    %r: f32[8,4] = reverse(%e) {axes = [1]}
    %d: f32[8,4] = sub(%y, %r)
    return %d
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  ASSERT_EQ(p.plan.kept.size(), 1u);
  EXPECT_EQ(p.plan.kept[0].value, p.module.kernels[0].find("e"));
  EXPECT_EQ(p.plan.kept[0].at, identity_map({8, 4}));
  EXPECT_EQ(p.plan.kept[0].phase, 0);
}

TEST(PlanKernel, LargestIndexCountsValuesThatAreNotStored) {
  const Planned p(R"(kernel @f(%seed: i64[]) {schedule = "pointwise", domain = [8]} {
    %u: f32[65536,65536] = random_uniform(%seed, %seed) {shape = [65536,65536], stream = 7}
    %y: f32[1,8] = slice(%u) {starts = [65535,0], limits = [65536,8]}
    return %y
  })");
  ASSERT_TRUE(p.plan.ok()) << p.plan.reason;
  EXPECT_GE(p.plan.largest_index, int64_t{65535} * 65536 + 7);
  EXPECT_NE(schedule_conflict(*p.module.kernels[0].schedule, p.plan), "");
}

// A worker of the host is woken for 1024 points; threads of a GPU take one packet each.
TEST(PlanKernel, MostBlocksFollowTheWork) {
  const auto blocks = [](const std::string& shape) {
    const Planned p("kernel @f(%x: f32[4096]) {schedule = \"pointwise\", domain = [4096]" + shape +
                    "} {\n  %y: f32[4096] = neg(%x)\n  return %y\n}");
    return p.plan.most_blocks;
  };
  EXPECT_EQ(blocks(""), 4);
  EXPECT_EQ(blocks(", threads = 256, vector_width = 4"), 4);
  EXPECT_EQ(blocks(", threads = 64, vector_width = 1"), 64);
}

}  // namespace
}  // namespace heddle::ir
