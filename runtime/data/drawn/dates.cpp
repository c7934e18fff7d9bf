// Dates as people write them, and in the form of ISO 8601, for networks that read and write characters.
//
//   {"op": "synthetic", "kind": "dates", "rows": 20000, "written": "source", "iso": "target", "next": "next"}
//     -> written u8[30] of "wednesday, may 9, 2018", iso u8[11] of "<begin>2018-05-09", next i32[11] of "2018-05-09<end>"
//
// Days are from 1900 to 2099. With "held_out" the day is from the tenth that other rows never have, in any form.
#include <fmt/format.h>

#include <array>
#include <chrono>

#include "runtime/data/drawn/text.h"
#include "runtime/data/keyed_random.h"

namespace heddle::runtime::data {
namespace {

using std::chrono::sys_days, std::chrono::year, std::chrono::January;

constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};

const DrawnVocabulary& vocabulary() {
  static const DrawnVocabulary all =
      DrawnVocabulary::of_characters({"<pad>", "<begin>", "<end>"}, " ,-./0123456789abcdefghijklmnopqrstuvwxyz");
  return all;
}

struct Written {
  std::string written, iso;
};

std::string_view ordinal(unsigned day) {
  if (day / 10 == 1) return "th";
  return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : day % 10 == 3 ? "rd" : "th";
}

Written draw_date(const SyntheticRow& r) {
  constexpr sys_days kFirst = year(1900) / January / 1, kEnd = year(2100) / January / 1;
  KeyedRandom random(r.seed, static_cast<uint64_t>(r.row));
  uint64_t number = 0;
  do number = random.below(static_cast<uint64_t>((kEnd - kFirst).count()));
  while (is_held_out(number, 0) != r.request.flag("held_out"));
  const sys_days days = kFirst + std::chrono::days(number);
  const std::chrono::year_month_day date(days);
  const auto d = static_cast<unsigned>(date.day()), m = static_cast<unsigned>(date.month());
  const int y = static_cast<int>(date.year());
  const std::string_view month = kMonths.at(m - 1);
  const auto written = [&]() -> std::string {
    switch (random.below(7)) {
      case 0: return fmt::format("{} {} {}", d, month, y);
      case 1: return fmt::format("{} {}, {}", month, d, y);
      case 2: return fmt::format("{}, {} {}, {}", kWeekdays.at(std::chrono::weekday(days).c_encoding()), month, d, y);
      case 3: return fmt::format("the {}{} of {} {}", d, ordinal(d), month, y);
      case 4: return fmt::format("{} {} {}", d, month.substr(0, 3), y);
      case 5: return fmt::format("{:02}.{:02}.{}", d, m, y);
      default: return fmt::format("{:02}/{:02}/{}", m, d, y);  // the month first, as in America
    }
  };
  return {written(), fmt::format("{:04}-{:02}-{:02}", y, m, d)};
}

SyntheticKind kind() {
  return {.name = "dates",
          .columns = pair_columns({vocabulary, [](const SyntheticRow& r) { return draw_date(r).written; }},
                                  {vocabulary, [](const SyntheticRow& r) { return draw_date(r).iso; }}),
          .holds_out = true};
}

const RegisterSynthetic registered(kind());

}  // namespace
}  // namespace heddle::runtime::data
