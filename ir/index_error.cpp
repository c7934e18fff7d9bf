#include "ir/index_error.h"

#include <fmt/format.h>

namespace heddle {

UserError index_error(const CheckedIndices& checked, const OutsideIndex& outside, const std::string& row) {
  const std::string place = checked.of_row > 0 ? row : fmt::format("element {}", outside.place);
  return {checked.where,
          fmt::format("{}: {} holds {} in {}, counted from 0: expected 0 ... {}", checked.reader, checked.indices,
                      outside.index, place, checked.below - 1),
          checked.help, checked.notes};
}

}  // namespace heddle
