// Names of the model format that this version does not implement, each with an alternative.
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
  std::vector<std::string_view> foreign = {};  // names in other frameworks, in the form of plain_word
};
const std::vector<Planned>& planned();

// `name` may come from the format or from another framework. Returns nullptr if it is not planned.
const Planned* find_planned(PlannedKind kind, std::string_view name);

}  // namespace heddle::frontend
