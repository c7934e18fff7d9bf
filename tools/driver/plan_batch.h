// plan_batch: chooses how many rows a prediction computes at once, and compiles the program.
//
//   rows of 12 bytes: 64                rows of 40 MB: 3                rows of 1 GB: 2
//
// It is `kMostRows` where these take at most `kBudget` bytes of memory besides the parameters. Else it is fewer, so
// that memory does not grow with 64 large rows, and at most as many as there are. It is at least two: with one row, it
// could not be checked that rows do not depend on each other.
#pragma once
#include "tools/driver/compile.h"

namespace heddle::driver {

// The caller's request.
struct BatchRequest {
  int64_t rows = 0;   // at once; 0: as planned
  int64_t known = 0;  // all rows that there are; 0: unknown
};

inline constexpr int kMostBatch = 1 << 20;  // largest request

struct PlannedBatch {
  static constexpr int64_t kFewest = 2, kMostRows = 64, kBudget = int64_t{128} << 20;
  int64_t rows = 0;
  Compiled compiled;
};

// Plans the entry 'predict', which computes the model's outputs. Throws UserError where not even the fewest rows fit
// into memory.
PlannedBatch plan_batch(Planned& planned, const BatchRequest& request, const CompileOptions& options);

}  // namespace heddle::driver
