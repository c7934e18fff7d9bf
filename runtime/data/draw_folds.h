// Which part of a table each row is in, drawn by a seed: for k-fold cross-validation.
//
//   draw_folds({.rows = 7, .folds = 3, .seed = 1}) -> {2, 0, 1, 0, 2, 1, 0}
//
// A result is a function of the request alone. Without groups the folds differ by one row at most, of each class and of
// all rows.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct FoldRequest {
  int64_t rows = 0;
  int64_t folds = 0;
  uint64_t seed = 0;
  RowKinds classes = {};  // each is spread over the folds; empty: the rows as a whole are
  RowKinds groups = {};   // rows of one group are in one fold; empty: each row is alone
};

// The fold of each row, from 0 on. Large groups come first, each to the fold that lacks most of what it brings. With
// fewer rows or groups than folds some folds are empty: the caller looks.
std::vector<uint32_t> draw_folds(const FoldRequest& request);

}  // namespace heddle::runtime::data
