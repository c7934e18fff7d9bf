// Batches: assigns the rows of an epoch or a split to entries. Each whole batch goes to the entry of its bucket; the
// remaining rows come last.
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
  // Finds the program's entries for whole batches: those for shorter rows, and the one for rows of any length.
  Batches(const codegen::Program& program, ir::Phase phase);
  const codegen::Entry& whole() const { return *entries_.back(); }

  // Returns `order` unchanged where there are no buckets (`bucket` is empty), else sorted into batches.
  data::BucketOrder arrange(std::vector<uint32_t> order, std::span<const uint8_t> bucket) const;
  // The entries for `times` whole batches, from batch `first` on.
  std::vector<Steps::Part> parts(const data::BucketOrder& order, int64_t first, int64_t times) const;

 private:
  std::vector<const codegen::Entry*> entries_;  // the shortest first
};

}  // namespace heddle::runtime
