#include "tools/driver/class_differences.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <type_traits>

namespace heddle::driver {
namespace {

struct Counts {
  std::map<int64_t, int64_t> of_class;  // rows that hold it, one time or several
  int64_t rows = 0;                     // that hold any class
};

Counts count_classes(const runtime::data::Column& column, int64_t below) {
  Counts counts;
  const std::span<const std::byte> bytes = column.content();
  const auto of_row = static_cast<size_t>(column.row_bytes());
  runtime::data::visit(column.type, [&](auto zero) {
    using T = decltype(zero);
    std::set<int64_t> here;
    for (size_t row = 0; of_row > 0 && row + of_row <= bytes.size(); row += of_row) {
      here.clear();
      for (size_t at = row; at < row + of_row; at += sizeof(T)) {
        T x;
        std::memcpy(&x, bytes.data() + at, sizeof(T));
        const auto label = static_cast<int64_t>(x);
        if (label >= 0 && label < below) here.insert(label);
      }
      for (const int64_t label : here) ++counts.of_class[label];
      counts.rows += here.empty() ? 0 : 1;
    }
  });
  return counts;
}

// The class of `some` that is the most of them, of those that the others lack, where a random choice of the rows would
// hardly ever have left it out; none: -1.
int64_t missing_class(const Counts& some, const Counts& others) {
  constexpr double kHardlyEver = 1e-6;
  const auto rows = static_cast<double>(some.rows), drawn = static_cast<double>(others.rows);
  int64_t found = -1;
  for (const auto& [label, count] : some.of_class) {
    if (others.of_class.contains(label)) continue;
    const double share = static_cast<double>(count) / (rows + drawn);
    const bool by_chance = std::pow(1 - share, drawn) > kHardlyEver;
    if (!by_chance && (found < 0 || count > some.of_class.at(found))) found = label;
  }
  return found;
}

// What may be any whole number from 0 on is a relevance, and no class.
constexpr int64_t kMostClasses = 1 << 24;

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
    if (input.below < 0 || input.below > kMostClasses || input.looked_up || train == nullptr || validation == nullptr)
      continue;
    const Counts learned = count_classes(*train, input.below), asked = count_classes(*validation, input.below);
    if (learned.rows == 0 || asked.rows == 0) continue;
    const char* verb = train->dims.empty() ? "are of" : "hold";
    const auto tell = [&](int64_t label, const Counts& some, const char* which, const char* others) {
      note(fmt::format("{} of {} {} rows {} class {} of '{}', and no {} row {}{}", some.of_class.at(label), some.rows,
                       which, verb, label, input.name, others, train->dims.empty() ? "is" : "does", help));
    };
    if (const int64_t label = missing_class(asked, learned); label >= 0)
      tell(label, asked, "validation", "training");
    else if (const int64_t lacking = missing_class(learned, asked); lacking >= 0)
      tell(lacking, learned, "training", "validation");
  }
}

}  // namespace heddle::driver
