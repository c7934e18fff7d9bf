// Names of the format that this version does not build, each with what to use instead.
//
//   find_planned(PlannedKind::op, "LSTM")  ->  lstm: "over a sequence: conv1d, with a dilation to reach further, ..."
#pragma once
#include <string_view>
#include <vector>

namespace heddle::frontend {

enum class PlannedKind { op, key };

struct Planned {
  PlannedKind kind = PlannedKind::op;
  std::string_view name;
  std::string_view instead;
  std::vector<std::string_view> foreign = {};  // what others call it, as plain_word gives it
};
const std::vector<Planned>& planned();

// The name as the format or another framework has it; nullptr: not planned.
const Planned* find_planned(PlannedKind kind, std::string_view name);

}  // namespace heddle::frontend
