// What is said of an index outside of what it was to find, whether training, evaluation or prediction meets it.
//
//   m.json:7:22: error: gather 'g': 'j' holds 5 in training row 2, counted from 0: expected 0 ... 2
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle {

// Indices that a model computes and the step looks at.
struct CheckedIndices {
  Location where;                      // of what reads them
  std::string reader;                  // "gather 'g'"
  std::string indices;                 // "'j'", "coordinate 1 of 'j'"
  bool is_u64 = false;                 // whether those from 2^63 on are no negative ones
  int64_t below = 0;                   // they are to lie in [0, below + below_for_each * rows of the batch)
  int64_t below_for_each = 0;          // 0: the axis does not grow with the batch
  int64_t of_row = 0;                  // how many of them a row of the batch has; 0: they are not of rows
  std::string help;                    // what keeps them inside
  std::vector<Diagnostic> notes = {};  // where they come from
};

struct OutsideIndex {
  size_t check = 0;              // which of the model's
  int64_t place = 0, index = 0;  // among all indices of the batch, row-major; its value
};

// An index as its type has it.
std::string index_text(int64_t index, bool is_u64);
// `row` names the row of the data: "training row 2"; it is left out where the indices are not of
// rows. The batch had `batch` rows.
UserError index_error(const CheckedIndices& checked, const OutsideIndex& outside, const std::string& row,
                      int64_t batch);

}  // namespace heddle
