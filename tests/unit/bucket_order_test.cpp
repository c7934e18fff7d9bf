// The order of rows in buckets: which rows make a batch, what is left over, and what it depends on.
#include "runtime/data/bucket_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "runtime/data/shuffle.h"

namespace heddle::runtime::data {
namespace {

using Rows = std::vector<uint32_t>;
using Buckets = std::vector<uint8_t>;

TEST(BucketOrder, IsThatOfTheHeader) {
  const BucketOrder made = bucket_order(Rows{5, 0, 3, 1, 4, 2, 6}, Buckets{0, 1, 0, 1, 0, 1, 0}, 1, 2);
  EXPECT_EQ(made.rows, (Rows{5, 3, 0, 4, 2, 6, 1}));
  EXPECT_EQ(made.batches, (Buckets{1, 0, 0}));
}

TEST(BucketOrder, OneBucketChangesNothing) {
  const Rows order = shuffled(103, 4, 1);
  const BucketOrder made = bucket_order(order, Buckets(103), 0, 10);
  EXPECT_EQ(made.rows, order);
  EXPECT_EQ(made.batches, Buckets(10));
}

// What a bucket has left over goes up, as far as it must: a bucket that no row has, too few rows for any batch.
TEST(BucketOrder, LeftRowsGoToLongerBuckets) {
  const BucketOrder few = bucket_order(Rows{0, 1, 2}, Buckets{0, 0, 3}, 3, 2);
  EXPECT_EQ(few.rows, (Rows{0, 1, 2}));
  EXPECT_EQ(few.batches, (Buckets{0}));
  const BucketOrder met = bucket_order(Rows{0, 1, 2, 3}, Buckets{0, 1, 2, 0}, 3, 3);
  EXPECT_EQ(met.rows, (Rows{1, 0, 3, 2}));
  EXPECT_EQ(met.batches, (Buckets{1}));
  const BucketOrder none = bucket_order(Rows{1, 0}, Buckets{0, 0}, 2, 5);
  EXPECT_EQ(none.rows, (Rows{1, 0}));
  EXPECT_TRUE(none.batches.empty());
  EXPECT_TRUE(bucket_order({}, {}, 2, 5).rows.empty());
}

// Every row once; a batch's rows are of its bucket or of shorter ones; as many batches as without buckets.
TEST(BucketOrder, EveryRowFitsItsBatch) {
  for (const int64_t rows : {1, 7, 64, 1000})
    for (const int64_t batch : {1, 3, 16, 64})
      for (const uint8_t longest : {uint8_t{0}, uint8_t{2}, uint8_t{9}}) {
        const Rows order = shuffled(rows, 1, static_cast<uint64_t>(batch));
        Buckets bucket;
        for (int64_t row = 0; row < rows; ++row)
          bucket.push_back(static_cast<uint8_t>((row * row * 31 + 7) % (longest + 1)));
        const BucketOrder made = bucket_order(order, bucket, longest, batch);
        EXPECT_EQ(std::ssize(made.batches), rows / batch);
        Rows sorted = made.rows;
        std::ranges::sort(sorted);
        EXPECT_EQ(sorted, in_order(rows));
        int64_t promoted = 0;
        for (size_t i = 0; i < made.batches.size() * static_cast<size_t>(batch); ++i) {
          const uint8_t of_batch = made.batches[i / static_cast<size_t>(batch)], of_row = bucket[made.rows[i]];
          EXPECT_LE(of_row, of_batch);
          promoted += of_row < of_batch ? 1 : 0;
        }
        EXPECT_LE(promoted, longest * longest * batch);
      }
}

}  // namespace
}  // namespace heddle::runtime::data
