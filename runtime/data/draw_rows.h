// Draws by a seed which rows of a table are set aside for validation.
//
//   draw_rows({.rows = 6, .fraction = 0.5, .seed = 1, .classes = {0, 0, 0, 0, 1, 1}})
//     -> {1, 0, 0, 1, 0, 1}: half of each class
//
// The result depends on the request alone. Shares are rounded to the nearest row.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/data/row_kinds.h"

namespace heddle::runtime::data {

struct DrawRequest {
  int64_t rows = 0;
  double fraction = 0;
  uint64_t seed = 0;
  RowKinds classes = {};           // each class gives this share; empty: one class
  RowKinds groups = {};            // rows of a group stay together; empty: each row alone
  std::vector<uint8_t> kept = {};  // rows that are never set aside, 1 each; empty: none
};

// Returns 1 for each row that is set aside. Groups are tried in a drawn order; a group is taken if it brings the
// classes nearer to their shares. A class whose share rounds to 0 rows gives none: the caller checks this.
std::vector<uint8_t> draw_rows(const DrawRequest& request);

}  // namespace heddle::runtime::data
