// RowDraw: draws the rows of an epoch with replacement, so that some rows come several times and others not at all.
//
//   balanced_draw({.of_row = {0, 0, 0, 1}, .count = 2})  ->  row 3 in half of the places, each other one in a sixth
//   weighted_draw({1, 0, 3})                             ->  row 0 in a quarter of the places, row 2 in the others
//
// The row in a place depends on (seed, epoch, place) alone: it is the same on every machine and for any batch size.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct RowDraw {
  std::vector<uint32_t> rows = {};  // class by class; empty: by weight
  std::vector<size_t> ends = {};    // the end of each class in `rows`
  std::vector<double> sums = {};    // sum of the weights up to and including each row
};

// All kinds are equally likely, and so are all rows of a kind. Rows of kind kNoKind are not drawn. Each kind must have
// a row.
inline constexpr uint32_t kNoKind = UINT32_MAX;
RowDraw balanced_draw(const RowKinds& kinds);
// Each row is as likely as its share of the weights. Weights must not be negative; their sum must be finite and above
// 0.
RowDraw weighted_draw(const std::vector<double>& weights);

// Draws the rows of an epoch of `count` places.
std::vector<uint32_t> drawn_order(const RowDraw& draw, int64_t count, uint64_t seed, uint64_t epoch);

}  // namespace heddle::runtime::data
