#include "runtime/text/word_cache.h"

#include <xxhash.h>

namespace heddle::runtime::text {
namespace {

constexpr size_t kSlots = size_t{1} << 17, kMost = kSlots / 2;  // 5 MB of entries
constexpr size_t kMostIds = size_t{1} << 20;

}  // namespace

size_t WordCache::slot(std::string_view piece, uint64_t hash) const {
  for (size_t at = hash & (kSlots - 1);; at = (at + 1) & (kSlots - 1)) {
    const Entry& entry = table_[at];
    if (!entry.there) return at;
    if (entry.hash == hash && std::string_view(text_).substr(entry.text, entry.text_size) == piece) return at;
  }
}

WordCache::Place WordCache::find(std::string_view piece) const {
  const uint64_t hash = XXH3_64bits(piece.data(), piece.size());
  if (table_.empty()) return {.hash = hash};
  const Entry& entry = table_[slot(piece, hash)];
  return {hash, entry.there, std::span(ids_).subspan(entry.ids, entry.count)};
}

void WordCache::add(std::string_view piece, uint64_t hash, std::span<const uint32_t> ids) {
  if (table_.empty() || count_ == kMost || ids_.size() + ids.size() > kMostIds) {  // full: start again empty
    table_.assign(kSlots, {});
    text_.clear();
    ids_.clear();
    count_ = 0;
  }
  Entry& entry = table_[slot(piece, hash)];
  entry = {hash,
           static_cast<uint32_t>(text_.size()),
           static_cast<uint32_t>(piece.size()),
           static_cast<uint32_t>(ids_.size()),
           static_cast<uint32_t>(ids.size()),
           true};
  text_ += piece;
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  ++count_;
}

}  // namespace heddle::runtime::text
