#include "codegen/lone_rows.h"

#include <gtest/gtest.h>

namespace heddle::codegen {
namespace {

Library product(std::vector<int64_t> a, std::vector<int64_t> b, std::vector<int64_t> c, int64_t slices = 1) {
  Library call;
  call.impl = "onednn";
  call.matrix_product = true;
  call.operands = {{"f32", std::move(a)}, {"f32", std::move(b)}};
  call.results = {{"f32", std::move(c)}};
  call.batch_split = slices;
  return call;
}

Library asked(Library call) {
  Program p;
  p.entries.emplace_back().steps.push_back({.what = std::move(call), .origin = {}});
  ask_for_lone_rows(p);
  return std::get<Library>(p.entries[0].steps[0].what);
}

// A slice has 2^16 numbers of the right side or more: 768 * 2304 / 65536 = 27; there are 64 slices at most.
TEST(LoneRows, CutsTheRightSideByItsSize) {
  EXPECT_EQ(asked(product({2, 768}, {2304, 768}, {2, 2304})).batch_split, 27);
  EXPECT_EQ(asked(product({2, 768}, {50257, 768}, {2, 50257})).batch_split, 64);
  EXPECT_EQ(asked(product({2, 12, 1, 64}, {2, 12, 1024, 64}, {2, 12, 1, 1024})).batch_split, 24);
  EXPECT_EQ(asked(product({2, 128}, {384, 128}, {2, 384})).batch_split, 1);
}

TEST(LoneRows, KeepsMoreSlices) {
  EXPECT_EQ(asked(product({4096, 64}, {64, 64}, {4096, 64}, 16)).batch_split, 16);
  EXPECT_EQ(asked(product({48, 768}, {2304, 768}, {48, 2304}, 2)).integers.at("lone_rows")[0], 1);
}

// It has no lone rows, and its workspace is planned for its slices.
TEST(LoneRows, LeavesTheSlicesOfATransposedLeftSide) {
  Library call = product({768, 2}, {768, 2304}, {2, 2304});
  call.integers["transpose_a"] = {1};
  EXPECT_EQ(asked(call).batch_split, 1);
}

// The workspace of an int8 weight is planned for the slices of its call.
TEST(LoneRows, LeavesTheSlicesOfAnInt8Weight) {
  Library call = product({2, 1024}, {1024, 1024}, {2, 1024}, 3);
  call.operands[1].dtype = "i8";
  EXPECT_EQ(asked(call).batch_split, 3);
}

// Inside of a loop, too, and nothing else.
TEST(LoneRows, AsksInLoopsForProductsAlone) {
  Library other = product({1, 8}, {8, 8}, {1, 8});
  other.matrix_product = false;
  Loop loop{
      .count = 3,
      .steps = {{.what = product({2, 768}, {2304, 768}, {2, 2304}), .origin = {}}, {.what = other, .origin = {}}}};
  Program p;
  p.entries.emplace_back().steps.push_back({.what = std::move(loop), .origin = {}});
  ask_for_lone_rows(p);
  const Loop& made = std::get<Loop>(p.entries[0].steps[0].what);
  EXPECT_EQ(std::get<Library>(made.steps[0].what).batch_split, 27);
  EXPECT_TRUE(std::get<Library>(made.steps[1].what).integers.empty());
}

}  // namespace
}  // namespace heddle::codegen
