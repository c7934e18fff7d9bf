#include "runtime/data/bucket_order.h"

#include <cstddef>

#include "ir/check.h"

namespace heddle::runtime::data {
namespace {

// Rows that wait for their batch, by bucket.
class Waiting {
 public:
  Waiting(size_t rows, uint8_t longest, int64_t batch)
      : buckets_(size_t{longest} + 1), batch_(static_cast<size_t>(batch)) {
    made_.rows.reserve(rows);
  }

  void add(uint32_t row, size_t bucket) {
    std::vector<uint32_t>& rows = buckets_.at(bucket);
    rows.push_back(row);
    if (rows.size() < batch_) return;
    made_.batches.push_back(static_cast<uint8_t>(bucket));
    move_to_order(rows);
  }

  BucketOrder finish() {
    for (size_t bucket = 0; bucket + 1 < buckets_.size(); ++bucket) {
      for (const uint32_t row : buckets_[bucket]) add(row, bucket + 1);
      buckets_[bucket].clear();
    }
    move_to_order(buckets_.back());
    return std::move(made_);
  }

 private:
  void move_to_order(std::vector<uint32_t>& rows) {
    made_.rows.insert(made_.rows.end(), rows.begin(), rows.end());
    rows.clear();
  }

  std::vector<std::vector<uint32_t>> buckets_;
  size_t batch_;
  BucketOrder made_;
};

}  // namespace

BucketOrder bucket_order(std::span<const uint32_t> order, std::span<const uint8_t> bucket, uint8_t longest,
                         int64_t batch) {
  HEDDLE_CHECK(batch > 0, "a batch has rows");
  Waiting waiting(order.size(), longest, batch);
  for (const uint32_t row : order) waiting.add(row, bucket[row]);
  return waiting.finish();
}

}  // namespace heddle::runtime::data
