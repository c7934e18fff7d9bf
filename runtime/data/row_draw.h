// The rows of an epoch where they are drawn with replacement: some come several times, others not at all.
//
//   balanced_draw({.of_row = {0, 0, 0, 1}, .count = 2})  ->  row 3 in half of the places, each other one in a sixth
//   weighted_draw({1, 0, 3})                             ->  row 0 in a quarter of the places, row 2 in the others
//
// What stands in a place is a function of (seed, epoch, place), the same on every machine and for any batch size.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct RowDraw {
  std::vector<uint32_t> rows = {};  // class by class; empty: by weight
  std::vector<size_t> ends = {};    // of each class in `rows`
  std::vector<double> sums = {};    // of the weights up to each row, itself included
};

// Each kind is as likely as the others, and so is each row of a kind; `rows` of kind kNoKind are not drawn. Each kind
// has a row.
inline constexpr uint32_t kNoKind = UINT32_MAX;
RowDraw balanced_draw(const RowKinds& kinds);
// None is negative, their sum is finite and above 0.
RowDraw weighted_draw(const std::vector<double>& weights);

// The rows of an epoch of `count` places.
std::vector<uint32_t> drawn_order(const RowDraw& draw, int64_t count, uint64_t seed, uint64_t epoch);

}  // namespace heddle::runtime::data
