// Dates and times of ISO 8601 as numbers.
//
//   parse_date("2024-03-01T18:00+02:00", to) -> "", and 2024-03-01, 64800 s after its midnight, 7200 s ahead of UTC
//   date_part(to, "time_of_day") -> 0.75      date_part(to, "days") -> 19783.6666..., since 1970-01-01T00:00Z
//
// A date is YYYY-MM-DD or YYYYMMDD, a time HH:MM, HH:MM:SS with a fraction, or HHMM and so on; a T, a t or a blank stands
// between them, and Z or an offset behind. Without a time it is midnight, without an offset UTC.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/element.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct DateTime {
  int64_t day = 0;  // since 1970-01-01, where it was written
  int year = 1970, month = 1, day_of_month = 1;
  double second = 0;  // of the day
  int offset = 0;     // seconds ahead of UTC
};

// What is wrong with the text, or "". Blanks around it are left out.
std::string parse_date(std::string_view text, DateTime& to);

// In the order of their description: "days", "seconds", "year" ...
std::vector<std::string> date_part_names();
// `part` is one of these. Only days and seconds look at the offset: all others are those of the place.
double date_part(const DateTime& date, std::string_view part);

// The part of a text as an element: what is wrong with it, or "".
std::string parse_date_part(std::string_view text, std::string_view part, ElementType type, std::byte* to);
// A remedy where a text is no date.
inline constexpr const char* kDateHelp =
    "such as 2024-12-31 or 2024-12-31T23:59:00Z; \"dates\" reads no other spelling";

// The key of what the columns of a table become: {"when": ["days", "time_of_day"]}.
Key dates_key();

}  // namespace heddle::runtime::data
