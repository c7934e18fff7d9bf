// Converts dates and times of ISO 8601 to numbers.
//
//   parse_date("2024-03-01T18:00+02:00", to) -> "", and 2024-03-01, 64800 s after its midnight, 7200 s ahead of UTC
//   date_part(to, "time_of_day") -> 0.75      date_part(to, "days") -> 19783.6666..., since 1970-01-01T00:00Z
//
// A date is YYYY-MM-DD or YYYYMMDD. A time is HH:MM, HH:MM:SS with or without a fraction, or the same without colons. A
// T, a t or a blank stands between date and time. Z or an offset follows. Without a time it is midnight; without an
// offset it is UTC.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/element.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct DateTime {
  int64_t day = 0;  // since 1970-01-01, in local time
  int year = 1970, month = 1, day_of_month = 1;
  double second = 0;  // of the day
  int offset = 0;     // seconds ahead of UTC
};

// Parses a date. Returns "", or what is wrong with the text. Blanks around it are ignored.
std::string parse_date(std::string_view text, DateTime& to);

// The names of all parts, in the order of the documentation: "days", "seconds", "year" ...
std::vector<std::string> date_part_names();
// `part` is one of these names. "days" and "seconds" count in UTC; all other parts are in local time.
double date_part(const DateTime& date, std::string_view part);

// Parses a date and writes one part of it as an element to `to`. Returns "", or what is wrong with the text.
std::string parse_date_part(std::string_view text, std::string_view part, ElementType type, std::byte* to);
// The remedy in errors about texts that are not dates.
inline constexpr const char* kDateHelp =
    "such as 2024-12-31 or 2024-12-31T23:59:00Z; \"dates\" reads no other spelling";

// The key that says which parts a column becomes: {"when": ["days", "time_of_day"]}.
Key dates_key();

}  // namespace heddle::runtime::data
