// largest_batch: how many rows a step may have within a limit of memory.
//
//   32 rows take 20 MB, 16 rows 11 MB, at most 100 MB   ->   174 rows fit, 175 do not: 6 plans
//
// What a batch takes is nearly linear in its rows. So a line through two known batches says where to look, and the place
// is then confirmed: the next batch is refused. Where the line is wrong, halving goes on.
#pragma once
#include <cstdint>
#include <functional>

namespace heddle::driver {

struct BatchSearch {
  int64_t first = 0;  // rows that are tried first
  int64_t step = 1;   // every batch is a multiple of it: that of micro-batches
  int64_t most = 0;   // rows that there are; `first` may be more
  int64_t limit = 0;  // bytes
};

struct LargestBatch {
  int64_t rows = 0;  // that fit; 0: not even `step`
  int64_t next = 0;  // the next batch, which does not fit; 0: there are no more rows
};

// least_bytes(rows): the least limit under which so many rows train. It is called once for each number of rows.
LargestBatch largest_batch(const BatchSearch& search, const std::function<int64_t(int64_t)>& least_bytes);

}  // namespace heddle::driver
