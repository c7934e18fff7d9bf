// Orders the rows of an epoch so that each batch holds rows of about the same length (one bucket).
//
//   order {5, 0, 3, 1, 4, 2, 6} of rows in the buckets {0, 1, 0, 1, 0, 1, 0}, batches of 2
//     -> rows {5, 3, 0, 4, 2, 6, 1}, whole batches of the buckets {1, 0, 0}
//
// Rows are taken in the given order. A batch is complete as soon as its bucket has enough rows, so long and short
// batches are mixed as their rows are. At the end, the rows left over in a bucket go to the next longer bucket, which
// can hold them. So an epoch has as many batches as without buckets. At most one batch is smaller: the last one, of the
// longest bucket.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace heddle::runtime::data {

struct BucketOrder {
  std::vector<uint32_t> rows;    // batch by batch
  std::vector<uint8_t> batches;  // the bucket of each whole batch
};

// `bucket`: the bucket of each row of the table, from 0 (the shortest) to `longest`. `batch`: rows per batch. The
// result depends on the arguments alone.
BucketOrder bucket_order(std::span<const uint32_t> order, std::span<const uint8_t> bucket, uint8_t longest,
                         int64_t batch);

}  // namespace heddle::runtime::data
