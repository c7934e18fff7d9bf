// plan_batch: how many rows a prediction takes at once, and the program for that many.
//
//   rows of 12 bytes: 64                rows of 40 MB: 3                rows of 1 GB: 2
//
// As many as `kMostRows` where that takes no more than `kBudget` bytes of memory beside the
// parameters; else fewer, so that memory grows with a row and not with 64 of them, and no more than
// there are. Never one: only a row that has another beside it shows whether rows are computed
// apart.
#pragma once
#include "tools/driver/compile.h"

namespace heddle::driver {

// What a caller says of it.
struct BatchRequest {
  int64_t rows = 0;   // at once; 0: as is planned
  int64_t known = 0;  // how many there are in all; 0: nobody knows
};

inline constexpr int kMostBatch = 1 << 20;  // that may be asked for

struct PlannedBatch {
  static constexpr int64_t kFewest = 2, kMostRows = 64, kBudget = int64_t{128} << 20;
  int64_t rows = 0;
  Compiled compiled;
};

// Of the entry 'predict', which computes the model's outputs. Throws UserError where not even the fewest rows fit.
PlannedBatch plan_batch(Planned& planned, const BatchRequest& request, const CompileOptions& options);

}  // namespace heddle::driver
