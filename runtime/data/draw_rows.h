// Which rows of a table are set aside, drawn by a seed: for validation.
//
//   draw_rows({.rows = 6, .fraction = 0.5, .seed = 1, .classes = {0, 0, 0, 0, 1, 1}})
//     -> {1, 0, 0, 1, 0, 1}: half of each class
//
// A result is a function of the request alone. Shares are rounded to the nearest row.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct DrawRequest {
  int64_t rows = 0;
  double fraction = 0;
  uint64_t seed = 0;
  RowKinds classes = {};           // each gives its own share; empty: the rows as a whole do
  RowKinds groups = {};            // rows of one group stay together; empty: each row is alone
  std::vector<uint8_t> kept = {};  // rows that are never set aside, 1 each; empty: none
};

// 1 for each row that is set aside. Of groups those are taken, in an order that is drawn, which bring the classes nearer
// to their shares. A class that is too small for its share of a row has none: the caller looks.
std::vector<uint8_t> draw_rows(const DrawRequest& request);

}  // namespace heddle::runtime::data
