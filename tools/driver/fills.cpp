#include "tools/driver/fills.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/json/json.h"
#include "frontend/keys/settings.h"
#include "ir/diagnostic.h"
#include "runtime/json_text.h"

namespace heddle::driver {
namespace {

std::string key_of(const frontend::PlannedInput& input) { return "heddle.missing." + input.name; }

// Places in the text would mean nothing to the reader of the message: it is the file that is wrong.
std::vector<double> read_list(const std::string& text, const std::string& key, const std::string& file) {
  const SourceFile source{file, text};
  std::vector<double> numbers;
  try {
    const frontend::Json list = frontend::parse_json(source);
    for (const frontend::Json& item : frontend::as_list(list, key).items)
      numbers.push_back(frontend::evaluate_real(item, {}, key));
  } catch (const UserError&) {
    numbers.clear();
  }
  if (numbers.empty() || !std::ranges::all_of(numbers, [](double v) { return std::isfinite(v); }))
    throw UserError(ExitCode::failed, fmt::format("{}: the metadata '{}' is no list of numbers", file, key));
  return numbers;
}

}  // namespace

std::map<std::string, std::string> fill_metadata(const frontend::TrainingPlan& plan, const Fills& fills) {
  std::map<std::string, std::string> out;
  for (size_t i = 0; i < fills.size(); ++i) {
    if (fills[i].empty()) continue;
    std::vector<std::string> numbers;
    for (const double v : fills[i]) numbers.push_back(runtime::json_number(v));
    out[key_of(plan.inputs[i])] = runtime::json_list(numbers);
  }
  return out;
}

Fills fills(const frontend::TrainingPlan& plan, const runtime::WeightsFile& weights) {
  Fills out(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const auto found = weights.metadata.find(key_of(plan.inputs[i]));
    if (found != weights.metadata.end()) out[i] = read_list(found->second, found->first, weights.name);
  }
  return out;
}

Fills either(const Fills& first, const Fills& second) {
  Fills out = first;
  out.resize(std::max(first.size(), second.size()));
  for (size_t i = 0; i < second.size(); ++i)
    if (out[i].empty()) out[i] = second[i];
  return out;
}

}  // namespace heddle::driver
