// Draws the fold of each row of a table by a seed, for k-fold cross-validation.
//
//   draw_folds({.rows = 7, .folds = 3, .seed = 1}) -> {2, 0, 1, 0, 2, 1, 0}
//
// The result depends on the request alone. Without groups, the sizes of two folds differ by at most one row, and so do
// their numbers of rows of each class.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct FoldRequest {
  int64_t rows = 0;
  int64_t folds = 0;
  uint64_t seed = 0;
  RowKinds classes = {};  // rows of each class are spread evenly over the folds; empty: one class
  RowKinds groups = {};   // rows of a group are in the same fold; empty: each row alone
};

// Returns the fold of each row, counted from 0. Groups are assigned in order of size, the largest first, each to the
// fold that lacks most rows of the group's classes. With fewer rows or groups than folds, some folds are empty: the
// caller checks this.
std::vector<uint32_t> draw_folds(const FoldRequest& request);

}  // namespace heddle::runtime::data
