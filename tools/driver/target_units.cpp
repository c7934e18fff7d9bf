#include "tools/driver/target_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace heddle::driver {
namespace {

// Losses whose first operand estimates the second, in its units.
const std::set<std::string, std::less<>> kEstimating = {"mse", "mae", "huber", "quantile", "gaussian_nll"};

int64_t elements_of(const ir::MapRow& row) {
  int64_t n = 1;
  for (const int64_t d : row.dims) n *= d;
  return n;
}

template <class T>
void undo(const TargetUnits& units, int64_t rows, std::byte* at) {
  const int64_t elements = elements_of(units.row);
  const int64_t plane = units.row.channels_first ? units.row.height() * units.row.width() : 1;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t e = 0; e < elements; ++e, at += sizeof(T)) {
      const auto channel = static_cast<size_t>(e / plane % units.row.channels());
      T value;
      std::memcpy(&value, at, sizeof(T));
      const TargetUnits::Unit& unit = units.channels.at(channel);
      value = static_cast<T>(static_cast<double>(value) * unit.factor + unit.offset);
      std::memcpy(at, &value, sizeof(T));
    }
}

double as_it_is(double x) { return x; }

// What all maps together make of a number of a channel.
double mapped(const std::vector<ir::DataMap>& maps, size_t channel, double x) {
  for (const ir::DataMap& map : maps)
    if (map.def->evaluate) x = map.def->evaluate(map, channel, x, as_it_is);
  return x;
}

// A picture of two axes that moves: a number for each column is that of the column before the move.
bool has_moved_columns(const std::vector<ir::DataMap>& maps, const ir::MapRow& row) {
  const auto moves = [](const ir::DataMap& map) { return static_cast<bool>(map.def->find); };
  return row.dims.size() == 2 && std::ranges::any_of(maps, moves) &&
         std::ranges::any_of(maps, [](const ir::DataMap& map) {
           return std::ranges::any_of(map.def->keys, [&](const ir::Key& key) {
             return key.count == ir::Count::several && map.has(key.name) && map.all(key.name).size() > 1;
           });
         });
}

}  // namespace

std::string estimated_value(const frontend::Model& model, const std::string& value) {
  for (const frontend::Part& part : model.train.losses) {
    if (kEstimating.contains(part.op) && part.in.size() >= 2 && part.in[0].name == value) return part.in[1].name;
  }
  return {};
}

TargetUnits target_units(const frontend::TrainingPlan& plan, const std::string& name) {
  TargetUnits units;
  const auto input = std::ranges::find(plan.inputs, name, &frontend::PlannedInput::name);
  const auto maps = plan.data.maps.find(name);
  if (input == plan.inputs.end() || maps == plan.data.maps.end()) return units;
  units.row = {.dtype = input->row.dtype, .dims = input->row.dims, .channels_first = input->channels_first};
  if (input->one_hot > 0 || input->cast) return units;  // classes have no unit
  const bool waits =
      std::ranges::any_of(maps->second, [](const ir::DataMap& map) { return map.waits_for_statistics(); });
  if (waits || has_moved_columns(maps->second, units.row)) {
    units.note = fmt::format("results that estimate '{}' are in the units behind its maps: {}", name,
                             waits ? "the weights hold neither its mean nor its deviation"
                                   : "a map that moves pictures stands beside one with numbers for each column");
    return units;
  }
  if (std::ranges::none_of(maps->second, [](const ir::DataMap& map) { return static_cast<bool>(map.def->evaluate); }))
    return units;
  for (int64_t channel = 0; channel < units.row.channels(); ++channel) {
    const double zero = mapped(maps->second, static_cast<size_t>(channel), 0),
                 slope = mapped(maps->second, static_cast<size_t>(channel), 1) - zero;
    units.channels.push_back({.factor = 1 / slope, .offset = -zero / slope});
  }
  if (std::ranges::any_of(units.channels, [](const auto& unit) { return !std::isfinite(unit.factor); }))
    units.channels.clear();  // times 0: no number of the file is known
  return units;
}

void to_target_units(const TargetUnits& units, runtime::data::ElementType type, int64_t rows,
                     std::span<std::byte> result) {
  if (units.channels.empty()) return;
  if (type == runtime::data::ElementType::f32) undo<float>(units, rows, result.data());
  if (type == runtime::data::ElementType::f64) undo<double>(units, rows, result.data());
}

}  // namespace heddle::driver
