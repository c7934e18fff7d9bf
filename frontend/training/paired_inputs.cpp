#include "frontend/training/paired_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace heddle::frontend {
namespace {

using runtime::data::ClassNames;

// Calls for each input that has a map of a pair: the map that stands in the model.
void each_pair(const TrainingPlan& plan, const std::function<void(const PlannedInput&, const ir::DataMap&)>& f) {
  for (const PlannedInput& input : plan.inputs) {
    const auto maps = plan.data.maps.find(input.name);
    if (maps == plan.data.maps.end()) continue;
    for (const ir::DataMap& map : maps->second)
      if (!map.def->pairs.empty() && map.number(map.def->pairs) == 0) f(input, map);
  }
}

const std::string& second_of(const ir::DataMap& map) { return map.words.find(map.def->pairs)->second; }

// What a reader says of an input: where it comes from, and each setting that it has for it alone.
std::vector<std::string> said_of(const DataReader& reader, const std::string& input) {
  std::vector<std::string> words;
  if (const auto column = reader.columns.find(input); column != reader.columns.end())
    for (const Named& word : column->second) words.push_back(word.text);
  for (const runtime::data::ReaderSetting& setting : reader.settings)
    if (const auto* names = std::get_if<ClassNames>(&setting.value))
      if (const auto own = names->find(input); own != names->end())
        words.insert(words.end(), own->second.begin(), own->second.end());
  return words;
}

}  // namespace

void check_pairs(const TrainingPlan& plan, Diagnostics& errors) {
  each_pair(plan, [&](const PlannedInput& input, const ir::DataMap& map) {
    const std::string what = fmt::format("{} of input '{}'", map.def->name, input.name);
    const std::string& other = second_of(map);
    const PlannedInput* second = find_input(plan, other);
    if (second != nullptr && second->row.dims != input.row.dims)
      errors.error(map.places.at(map.def->pairs),
                   fmt::format("{}: rows are {}, those of '{}' {}", what, ir::to_string(input.row), other,
                               ir::to_string(second->row)),
                   "give both inputs one shape");
    for (const auto* reader : {&plan.data.train, &plan.data.validation, &plan.data.test}) {
      if (!*reader || said_of(**reader, input.name) == said_of(**reader, other)) continue;
      const auto column = (*reader)->columns.find(other);
      errors.error(column == (*reader)->columns.end() ? (*reader)->where : column->second.at(0).where,
                   fmt::format("{}: '{}' is made of the same text, and the reader makes it of another", what, other),
                   fmt::format("write for '{}' what stands for '{}'", other, input.name));
    }
  });
}

void check_written_ids(const TrainingPlan& plan, Diagnostics& errors) {
  each_pair(plan, [&](const PlannedInput& input, const ir::DataMap& map) {
    if (!map.has("vocab") || input.below < 0 || map.integer("vocab") <= input.below) return;
    UserError error(map.places.at("vocab"),
                    fmt::format("{} of input '{}': {} tokens, and the input takes {}", map.def->name, input.name,
                                map.integer("vocab"), input.below),
                    "\"vocab\" is the number of tokens", input.bounded_by);
    errors.add(error);
  });
}

}  // namespace heddle::frontend
