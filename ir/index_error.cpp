#include "ir/index_error.h"

#include <fmt/format.h>

namespace heddle {

std::string index_text(int64_t index, bool is_u64) {
  return is_u64 ? fmt::format("{}", static_cast<uint64_t>(index)) : fmt::format("{}", index);
}

UserError index_error(const CheckedIndices& checked, const OutsideIndex& outside, const std::string& row,
                      int64_t batch) {
  const std::string place = checked.of_row > 0 ? row : fmt::format("element {}", outside.place);
  return {
      checked.where,
      fmt::format("{}: {} holds {} in {}, counted from 0: expected 0 ... {}", checked.reader, checked.indices,
                  index_text(outside.index, checked.is_u64), place, checked.below + checked.below_for_each * batch - 1),
      checked.help, checked.notes};
}

}  // namespace heddle
