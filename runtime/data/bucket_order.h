// Batches of rows that are about as long as one another: the order of an epoch, by buckets.
//
//   order {5, 0, 3, 1, 4, 2, 6} of rows in the buckets {0, 1, 0, 1, 0, 1, 0}, batches of 2
//     -> rows {5, 3, 0, 4, 2, 6, 1}, whole batches of the buckets {1, 0, 0}
//
// Rows are taken in the order given, and a batch is there as soon as its bucket has its rows: so long and short batches
// follow one another as their rows do. Rows that a bucket has left over at the end go to the next longer one, which can
// hold them. So an epoch has as many batches as without buckets, and one smaller batch at most, the last, of the longest
// rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::runtime::data {

struct BucketOrder {
  std::vector<uint32_t> rows;    // batch by batch
  std::vector<uint8_t> batches;  // the bucket of each whole batch
};

// `bucket` is that of each row of the table, from 0, the shortest, to `longest`. A function of its arguments alone.
BucketOrder bucket_order(std::span<const uint32_t> order, std::span<const uint8_t> bucket, uint8_t longest,
                         int64_t batch);

}  // namespace heddle::runtime::data
