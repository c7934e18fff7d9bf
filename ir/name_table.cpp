#include "ir/name_table.h"

#include <algorithm>
#include <utility>

namespace heddle::ir {

void NameTable::insert(uint32_t hash, int32_t number) {
  if (4 * (used_ + 1) > 3 * slots_.size()) rehash();
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].number != kNone) at = next(at);
  slots_[at] = {hash, number};
  ++used_;
}

void NameTable::rehash() {
  const auto live =
      static_cast<size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.number >= 0; }));
  size_t size = 16;
  while (size < 3 * live) size *= 2;
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size));
  used_ = 0;
  for (const Slot& s : old)
    if (s.number >= 0) insert(s.hash, s.number);
}

}  // namespace heddle::ir
