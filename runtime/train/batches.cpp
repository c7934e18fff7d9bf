#include "runtime/train/batches.h"

#include <algorithm>
#include <utility>

#include "ir/check.h"
#include "runtime/train/trainer.h"

namespace heddle::runtime {

Batches::Batches(const codegen::Program& program, ir::Phase phase) {
  for (const codegen::Entry& e : program.entries)
    if (e.kind().phase == phase && e.kind().batch == ir::BatchKind::whole && e.kind().length > 0)
      entries_.push_back(&e);
  std::ranges::sort(entries_, {}, [](const codegen::Entry* e) { return e->kind().length; });
  const codegen::Entry* whole = program.find_entry(phase);
  HEDDLE_CHECK(whole != nullptr, "a program that takes rows has an entry for all of them");
  entries_.push_back(whole);
}

data::BucketOrder Batches::arrange(std::vector<uint32_t> order, std::span<const uint8_t> bucket) const {
  if (bucket.empty()) return {.rows = std::move(order), .batches = {}};
  return data::bucket_order(order, bucket, static_cast<uint8_t>(entries_.size() - 1), batch_of(whole()));
}

std::vector<Steps::Part> Batches::parts(const data::BucketOrder& order, int64_t first, int64_t times) const {
  if (order.batches.empty()) return {{&whole(), times}};
  std::vector<Steps::Part> parts;
  for (int64_t i = first; i < first + times; ++i) {
    const codegen::Entry* entry = entries_.at(order.batches.at(static_cast<size_t>(i)));
    if (parts.empty() || parts.back().entry != entry) parts.push_back({entry, 0});
    ++parts.back().times;
  }
  return parts;
}

}  // namespace heddle::runtime
