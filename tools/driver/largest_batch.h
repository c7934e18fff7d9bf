// largest_batch: finds the largest number of rows that a training step may have within a memory limit.
//
//   32 rows take 20 MB, 16 rows 11 MB, at most 100 MB   ->   174 rows fit, 175 do not: 6 plans
//
// The memory of a batch is nearly linear in its rows. So a line through two known batches predicts the answer, which is
// then confirmed: that batch fits, and the next one does not. Where the prediction is wrong, bisection follows.
#pragma once
#include <cstdint>
#include <functional>

namespace heddle::driver {

struct BatchSearch {
  int64_t first = 0;  // rows that are tried first
  int64_t step = 1;   // every batch is a multiple of it, for micro-batches
  int64_t most = 0;   // rows of the data; `first` may be more
  int64_t limit = 0;  // bytes
};

struct LargestBatch {
  int64_t rows = 0;  // the largest that fits; 0: not even `step` rows fit
  int64_t next = 0;  // the next batch, which does not fit; 0: the data have no more rows
};

// least_bytes(rows): the least memory limit for so many rows. It is called at most once for each number of rows.
LargestBatch largest_batch(const BatchSearch& search, const std::function<int64_t(int64_t)>& least_bytes);

}  // namespace heddle::driver
