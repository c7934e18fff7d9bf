// Which entry takes which rows of an epoch or a split: whole batches, each by the entry of its bucket, then what is left.
//
//   batches {8, 8, all} of the buckets {8, all}  ->  parts {{"train.8", 2}, {"train", 1}}
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/data/bucket_order.h"
#include "runtime/train/steps.h"

namespace heddle::runtime {

class Batches {
 public:
  // The entries of whole batches in `program`: those of shorter rows, and that of all rows.
  Batches(const codegen::Program& program, ir::Phase phase);
  const codegen::Entry& whole() const { return *entries_.back(); }

  // `order` as it is where rows are in no buckets (`bucket` is empty), else batch by batch.
  data::BucketOrder arrange(std::vector<uint32_t> order, std::span<const uint8_t> bucket) const;
  // `times` whole batches from batch `first` on.
  std::vector<Steps::Part> parts(const data::BucketOrder& order, int64_t first, int64_t times) const;

 private:
  std::vector<const codegen::Entry*> entries_;  // the shortest first
};

}  // namespace heddle::runtime
