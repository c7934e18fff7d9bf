#include "ir/storage/view.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace heddle::ir {
namespace {

std::vector<Piece> pieces(const std::string& op, const std::vector<Dims>& shapes, Attrs attrs) {
  Graph g;
  Values operands;
  for (const Dims& dims : shapes) operands.push_back(g.add_input("x", {DType::f32, dims}, Role::input));
  Builder b(g);
  const ValueId y = b(op, operands, std::move(attrs));
  return contiguous_pieces(g, *g.def(y));
}

TEST(View, ReshapeIsOnePiece) {
  EXPECT_EQ(pieces("reshape", {{4, 5}}, {{"shape", Dims{20}}}), (std::vector<Piece>{{0, 0, 0, 20}}));
  EXPECT_EQ(pieces("reshape", {{6, 4}}, {{"shape", Dims{3, 8}}}), (std::vector<Piece>{{0, 0, 0, 24}}));
}

TEST(View, BroadcastThatRepeatsIsNone) {
  EXPECT_TRUE(pieces("broadcast", {{5}}, {{"shape", Dims{4, 5}}, {"dims", Dims{1}}}).empty());
  EXPECT_TRUE(pieces("broadcast", {{4}}, {{"shape", Dims{4, 5}}, {"dims", Dims{0}}}).empty());
  EXPECT_EQ(pieces("broadcast", {{5}}, {{"shape", Dims{1, 5}}, {"dims", Dims{1}}}), (std::vector<Piece>{{0, 0, 0, 5}}));
}

TEST(View, SliceOfLeadingRows) {
  // Rows 1 and 2 of four: 5 elements in.
  EXPECT_EQ(pieces("slice", {{4, 5}}, {{"starts", Dims{1, 0}}, {"limits", Dims{3, 5}}}),
            (std::vector<Piece>{{0, 5, 0, 10}}));
}

TEST(View, SliceOfColumnsOrWithStrideIsNone) {
  EXPECT_TRUE(pieces("slice", {{4, 5}}, {{"starts", Dims{0, 1}}, {"limits", Dims{4, 3}}}).empty());
  EXPECT_TRUE(pieces("slice", {{8}}, {{"starts", Dims{0}}, {"limits", Dims{8}}, {"strides", Dims{2}}}).empty());
}

TEST(View, SliceOfColumnsOfOneRow) {
  EXPECT_EQ(pieces("slice", {{4, 5}}, {{"starts", Dims{2, 1}}, {"limits", Dims{3, 3}}}),
            (std::vector<Piece>{{0, 11, 0, 2}}));  // row 2 starts at 10
}

TEST(View, ConcatAlongTheFirstAxisIsPieces) {
  EXPECT_EQ(pieces("concat", {{3}, {4}}, {{"axis", int64_t{0}}}), (std::vector<Piece>{{0, 0, 0, 3}, {1, 0, 3, 4}}));
  EXPECT_EQ(pieces("concat", {{2, 3}, {1, 3}}, {{"axis", int64_t{0}}}),
            (std::vector<Piece>{{0, 0, 0, 6}, {1, 0, 6, 3}}));
}

TEST(View, ConcatAlongAnotherAxisIsNone) {
  EXPECT_TRUE(pieces("concat", {{2, 3}, {2, 1}}, {{"axis", int64_t{1}}}).empty());
}

TEST(View, TransposeOfOneLongAxisIsOnePiece) {
  EXPECT_EQ(pieces("transpose", {{1, 7}}, {{"perm", Dims{1, 0}}}), (std::vector<Piece>{{0, 0, 0, 7}}));
  EXPECT_TRUE(pieces("transpose", {{2, 7}}, {{"perm", Dims{1, 0}}}).empty());
}

TEST(View, PadIsNone) { EXPECT_TRUE(pieces("pad", {{3}}, {{"low", Dims{1}}, {"high", Dims{0}}}).empty()); }

}  // namespace
}  // namespace heddle::ir
