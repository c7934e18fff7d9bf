#include "tools/driver/class_differences.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <type_traits>

namespace heddle::driver {
namespace {

using Counts = std::map<int64_t, int64_t>;  // rows of each class

Counts count_classes(const runtime::data::Column& column, int64_t below) {
  Counts counts;
  const std::span<const std::byte> bytes = column.content();
  runtime::data::visit(column.type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T x;
      std::memcpy(&x, bytes.data() + at, sizeof(T));
      const auto label = static_cast<int64_t>(x);
      if (label >= 0 && label < below) ++counts[label];
    }
  });
  return counts;
}

int64_t all_of(const Counts& counts) {
  int64_t sum = 0;
  for (const auto& [label, count] : counts) sum += count;
  return sum;
}

// The class of `some` that is the most of them, of those that the others lack, where a random choice of the rows would
// hardly ever have left it out; none: -1.
int64_t missing_class(const Counts& some, const Counts& others) {
  constexpr double kHardlyEver = 1e-6;
  const auto rows = static_cast<double>(all_of(some)), drawn = static_cast<double>(all_of(others));
  int64_t found = -1;
  for (const auto& [label, count] : some) {
    if (others.contains(label)) continue;
    const double share = static_cast<double>(count) / (rows + drawn);
    const bool by_chance = std::pow(1 - share, drawn) > kHardlyEver;
    if (!by_chance && (found < 0 || count > some.at(found))) found = label;
  }
  return found;
}

}  // namespace

void note_class_differences(const frontend::TrainingPlan& plan, const Splits& splits, const Tell& note) {
  if (!splits.train || !splits.validation) return;
  const std::string help = plan.data.validation_fraction > 0 && !plan.data.draw
                               ? "; \"fraction\" takes the last rows of a file, which are sorted, it seems: "
                                 "\"draw\": 1 draws them"
                               : "";
  for (const frontend::PlannedInput& input : plan.inputs) {
    const runtime::data::Column* train = splits.train->table.find(input.name);
    const runtime::data::Column* validation = splits.validation->table.find(input.name);
    if (input.below < 0 || input.looked_up || train == nullptr || validation == nullptr) continue;
    const Counts learned = count_classes(*train, input.below), asked = count_classes(*validation, input.below);
    if (learned.empty() || asked.empty()) continue;
    const auto tell = [&](int64_t label, const Counts& some, const char* which, const char* others) {
      note(fmt::format("{} of {} {} rows are of class {} of '{}', and no {} row is{}", some.at(label), all_of(some),
                       which, label, input.name, others, help));
    };
    if (const int64_t label = missing_class(asked, learned); label >= 0)
      tell(label, asked, "validation", "training");
    else if (const int64_t lacking = missing_class(learned, asked); lacking >= 0)
      tell(lacking, learned, "training", "validation");
  }
}

}  // namespace heddle::driver
