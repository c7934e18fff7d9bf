#include "tools/driver/statistics.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "frontend/json/json.h"
#include "frontend/keys/settings.h"
#include "ir/check.h"
#include "runtime/json_text.h"

namespace heddle::driver {
namespace {

using frontend::PlannedInput;
using frontend::TrainingPlan;

std::string key_of(const PlannedInput& input) { return "heddle.normalize." + input.name; }

// The map of the input that waits; nullptr where none does. Only the first of a list may.
ir::DataMap* waiting(TrainingPlan& plan, const PlannedInput& input) {
  const auto maps = plan.data.maps.find(input.name);
  if (maps == plan.data.maps.end() || maps->second.empty()) return nullptr;
  ir::DataMap& map = maps->second.front();
  return map.waits_for_statistics() ? &map : nullptr;
}
const ir::DataMap* waiting(const TrainingPlan& plan, const PlannedInput& input) {
  const auto maps = plan.data.maps.find(input.name);
  if (maps == plan.data.maps.end() || maps->second.empty()) return nullptr;
  return maps->second.front().waits_for_statistics() ? &maps->second.front() : nullptr;
}

struct Statistics {
  std::vector<double> mean, std;  // of each channel
};

// Elements of a row, and which channel each is of: they lie side by side, or in planes.
struct Layout {
  int64_t elements = 1, channels = 1, plane = 1;
  size_t channel(int64_t e) const { return static_cast<size_t>(e / plane % channels); }
};
Layout layout_of(const PlannedInput& input) {
  const ir::MapRow row{.dtype = input.row.dtype, .dims = input.stored, .channels_first = input.channels_first};
  Layout layout{.channels = row.channels()};
  for (const int64_t d : row.dims) layout.elements *= d;
  if (input.channels_first) layout.plane = layout.elements / layout.channels;
  return layout;
}

// A sum that keeps what its additions round off (Neumaier 1974): a constant's mean is the constant,
// and its deviation 0.
struct Sum {
  double high = 0, low = 0;

  void add(double x) {
    const double sum = high + x;
    low += std::abs(high) >= std::abs(x) ? (high - sum) + x : (x - sum) + high;
    high = sum;
  }
  double over(double count) const {
    const double most = high / count;
    return most + (std::fma(-most, count, high) + low) / count;
  }
};

// Goes over the rows twice: sums of differences from the mean lose least precision.
template <class T>
Statistics compute(const T* values, int64_t rows, const Layout& layout,
                   const std::function<void(int64_t, double)>& refuse) {
  const auto channels = static_cast<size_t>(layout.channels);
  const int64_t of_row = layout.elements / layout.channels;
  const double count = static_cast<double>(rows) * static_cast<double>(of_row);
  Statistics out{.mean = std::vector<double>(channels), .std = std::vector<double>(channels)};
  const auto each = [&](const auto& f) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t e = 0; e < layout.elements; ++e)
        f(row, layout.channel(e), static_cast<double>(values[row * layout.elements + e]));
  };
  std::vector<Sum> sums(channels), squares(channels);
  each([&](int64_t row, size_t c, double v) {
    if (!std::isfinite(v)) refuse(row, v);
    sums[c].add(v);
  });
  for (size_t c = 0; c < channels; ++c) out.mean[c] = sums[c].over(count);
  each([&](int64_t, size_t c, double v) { squares[c].add((v - out.mean[c]) * (v - out.mean[c])); });
  for (size_t c = 0; c < channels; ++c) {
    out.std[c] = std::sqrt(squares[c].over(count));
    if (out.std[c] == 0) out.std[c] = 1;  // all are the same, and become 0
  }
  return out;
}

Statistics of_rows(const PlannedInput& input, const ir::DataMap& map, const runtime::data::Table& rows) {
  const runtime::data::Column* column = rows.find(input.name);
  HEDDLE_CHECK(column != nullptr, "a column feeds input '" + input.name + "'");
  return runtime::data::visit(column->type, [&](auto zero) {
    const auto* values = reinterpret_cast<const decltype(zero)*>(column->content().data());
    return compute(values, rows.rows, layout_of(input), [&](int64_t row, double v) {
      throw UserError(map.where, fmt::format("normalize of input '{}': training row {}, counted from 0, holds {}",
                                             input.name, row, v));
    });
  });
}

void set(ir::DataMap& map, Statistics s) {
  map.numbers["mean"] = std::move(s.mean), map.numbers["std"] = std::move(s.std);
}

// Places in the text would mean nothing to the reader of the message: it is the file that is wrong.
Statistics parse(const std::string& text, const PlannedInput& input, const std::string& file) {
  const std::string key = key_of(input);
  const SourceFile source{file, text};
  Statistics out;
  try {
    const frontend::Json json = frontend::parse_json(source);
    const auto read = [&](const char* name, std::vector<double>& to) {
      const frontend::Json* list = json.find(name);
      if (list == nullptr) throw UserError(Location{}, "absent");
      for (const frontend::Json& item : frontend::as_list(*list, key).items)
        to.push_back(frontend::evaluate_real(item, {}, key));
    };
    read("mean", out.mean), read("std", out.std);
  } catch (const UserError&) {
    out = {};
  }
  const auto channels = static_cast<size_t>(layout_of(input).channels);
  bool right = out.mean.size() == channels && out.std.size() == channels;
  for (const double s : out.std) right = right && s > 0 && std::isfinite(1 / s);
  if (!right)
    throw UserError(ExitCode::failed, fmt::format("{}: the metadata '{}' is no mean and deviation of {} {}", file, key,
                                                  channels, channels == 1 ? "channel" : "channels"));
  return out;
}

}  // namespace

bool waits_for_statistics(const TrainingPlan& plan) {
  for (const PlannedInput& input : plan.inputs)
    if (waiting(plan, input) != nullptr) return true;
  return false;
}

void take_statistics(TrainingPlan& plan, const runtime::WeightsFile& weights) {
  for (const PlannedInput& input : plan.inputs) {
    ir::DataMap* map = waiting(plan, input);
    const auto found = weights.metadata.find(key_of(input));
    if (map != nullptr && found != weights.metadata.end()) set(*map, parse(found->second, input, weights.name));
  }
}

void fit_statistics(TrainingPlan& plan, const runtime::data::Table& rows) {
  for (const PlannedInput& input : plan.inputs)
    if (ir::DataMap* map = waiting(plan, input)) set(*map, of_rows(input, *map, rows));
}

void assume_statistics(TrainingPlan& plan, const Tell& tell) {
  for (const PlannedInput& input : plan.inputs) {
    ir::DataMap* map = waiting(plan, input);
    if (map == nullptr) continue;
    if (tell)
      tell(
          fmt::format("note: normalize of '{}' is compiled with a mean of 0 and a deviation of 1: a training takes "
                      "those of its rows",
                      input.name));
    set(*map, {.mean = {0}, .std = {1}});
  }
}

std::map<std::string, std::string> statistics_metadata(const TrainingPlan& model, const TrainingPlan& fitted) {
  std::map<std::string, std::string> out;
  for (const PlannedInput& input : model.inputs) {
    if (waiting(model, input) == nullptr) continue;
    const ir::DataMap& map = fitted.data.maps.find(input.name)->second.front();
    const auto list = [&](const char* key) {
      std::vector<std::string> numbers;
      for (const double v : map.all(key)) numbers.push_back(runtime::json_number(v));
      return runtime::json_list(numbers);
    };
    out[key_of(input)] = runtime::JsonObject().raw("mean", list("mean")).raw("std", list("std")).str();
  }
  return out;
}

}  // namespace heddle::driver
