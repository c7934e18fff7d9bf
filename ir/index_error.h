// The error for an index that is out of range. Training, evaluation and prediction all report it with this text.
//
//   m.json:7:22: error: gather 'g': 'j' holds 5 in training row 2, counted from 0: expected 0 ... 2
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle {

// Indices that a model computes and that the step checks.
struct CheckedIndices {
  Location where;                      // of the node that reads them
  std::string reader;                  // "gather 'g'"
  std::string indices;                 // "'j'", "coordinate 1 of 'j'"
  bool is_u64 = false;                 // their type is u64: values with the top bit set are not negative
  int64_t below = 0;                   // valid indices are in [0, below + below_for_each * rows of the batch)
  int64_t below_for_each = 0;          // 0: the axis does not grow with the batch
  int64_t of_row = 0;                  // indices per row of the batch; 0: they do not belong to rows
  std::string help;                    // how to keep them in range
  std::vector<Diagnostic> notes = {};  // where they come from
};

struct OutsideIndex {
  size_t check = 0;              // the number of the model's check
  int64_t place = 0, index = 0;  // its position among all indices of the batch, row-major; its value
};

// The index as text, signed or as u64.
std::string index_text(int64_t index, bool is_u64);
// The error for `outside`. `row` names the row of the data, "training row 2"; it is ignored if the indices do not
// belong to rows. `batch` is the number of rows of the batch.
UserError index_error(const CheckedIndices& checked, const OutsideIndex& outside, const std::string& row,
                      int64_t batch);

}  // namespace heddle
