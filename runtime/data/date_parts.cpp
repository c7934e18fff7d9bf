#include "runtime/data/date_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "ir/check.h"
#include "runtime/data/parse_number.h"

namespace heddle::runtime::data {
namespace {

namespace chrono = std::chrono;

constexpr double kSecondsOfDay = 86'400;

// Takes a text apart from its beginning.
struct Cursor {
  std::string_view rest;

  bool take(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }
  bool digits(size_t count, int& to) {
    if (rest.size() < count) return false;
    int value = 0;
    for (const char c : rest.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      value = 10 * value + (c - '0');
    }
    to = value;
    rest.remove_prefix(count);
    return true;
  }
  bool at_digit() const { return !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; }
};

bool take_day(Cursor& text, DateTime& to) {
  if (!text.digits(4, to.year)) return false;
  const bool parted = text.take('-');
  return text.digits(2, to.month) && parted == text.take('-') && text.digits(2, to.day_of_month);
}

// HH:MM, HH:MM:SS.sss, or without the colons.
bool take_time(Cursor& text, int& hour, int& minute, double& second) {
  if (!text.digits(2, hour)) return false;
  const bool parted = text.take(':');
  if (!text.digits(2, minute)) return false;
  if (parted ? !text.take(':') : !text.at_digit()) return true;
  int whole = 0;
  if (!text.digits(2, whole)) return false;
  second = whole;
  if (!text.rest.starts_with('.') && !text.rest.starts_with(',')) return true;
  std::string fraction = "0.";
  for (text.rest.remove_prefix(1); text.at_digit(); text.rest.remove_prefix(1)) fraction += text.rest[0];
  second += std::strtod(fraction.c_str(), nullptr);
  return fraction.size() > 2;
}

// Z, +02:00, +0200, +02, or nothing.
bool take_offset(Cursor& text, int& offset) {
  if (text.rest.empty() || text.take('Z') || text.take('z')) return true;
  const int sign = text.take('+') ? 1 : text.take('-') ? -1 : 0;
  int hours = 0, minutes = 0;
  if (sign == 0 || !text.digits(2, hours)) return false;
  if (text.take(':') || text.at_digit())
    if (!text.digits(2, minutes)) return false;
  offset = sign * (hours * 3600 + minutes * 60);
  return hours < 24 && minutes < 60;
}

// From Monday on.
int64_t weekday(const DateTime& date) { return ((date.day + 3) % 7 + 7) % 7; }

double day_of_year(const DateTime& date) {
  const chrono::sys_days first = chrono::year(date.year) / 1 / 1;
  return static_cast<double>(date.day - first.time_since_epoch().count());
}

double time_of_year(const DateTime& date) {
  const double days = chrono::year(date.year).is_leap() ? 366 : 365;
  return (day_of_year(date) + date.second / kSecondsOfDay) / days;
}

struct Part {
  const char* name;
  double (*of)(const DateTime&);
};

constexpr Part kParts[] = {
    {"days", [](const DateTime& d) { return static_cast<double>(d.day) + (d.second - d.offset) / kSecondsOfDay; }},
    {"seconds", [](const DateTime& d) { return static_cast<double>(d.day) * kSecondsOfDay + (d.second - d.offset); }},
    {"year", [](const DateTime& d) { return static_cast<double>(d.year); }},
    {"month", [](const DateTime& d) { return static_cast<double>(d.month); }},
    {"day", [](const DateTime& d) { return static_cast<double>(d.day_of_month); }},
    {"weekday", [](const DateTime& d) { return static_cast<double>(weekday(d)); }},
    {"hour", [](const DateTime& d) { return std::floor(d.second / 3600); }},
    {"minute", [](const DateTime& d) { return std::floor(std::fmod(d.second, 3600) / 60); }},
    {"time_of_day", [](const DateTime& d) { return d.second / kSecondsOfDay; }},
    {"time_of_week",
     [](const DateTime& d) { return (static_cast<double>(weekday(d)) + d.second / kSecondsOfDay) / 7; }},
    {"time_of_year", time_of_year},
};

}  // namespace

std::string parse_date(std::string_view text, DateTime& to) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  Cursor cursor{begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1)};
  to = {};
  constexpr const char* fault = "is no date of ISO 8601";
  if (!take_day(cursor, to)) return fault;
  int hour = 0, minute = 0;
  double second = 0;
  if (cursor.take('T') || cursor.take('t') || cursor.take(' ')) {
    if (!take_time(cursor, hour, minute, second) || !take_offset(cursor, to.offset)) return fault;
  }
  if (!cursor.rest.empty()) return fault;
  const chrono::year_month_day day = chrono::year(to.year) / to.month / to.day_of_month;
  if (!day.ok() || to.year == 0) return "is a day that no calendar has";
  if (hour > 23 || minute > 59 || second >= 60) return "is a time that no day has";
  to.day = chrono::sys_days(day).time_since_epoch().count();
  to.second = hour * 3600 + minute * 60 + second;
  return {};
}

std::vector<std::string> date_part_names() {
  std::vector<std::string> names;
  for (const Part& part : kParts) names.emplace_back(part.name);
  return names;
}

double date_part(const DateTime& date, std::string_view part) {
  const auto* found = std::ranges::find(kParts, part, [](const Part& p) { return std::string_view(p.name); });
  HEDDLE_CHECK(found != std::end(kParts), "the frontend knows the parts of dates: " + std::string(part));
  return found->of(date);
}

std::string parse_date_part(std::string_view text, std::string_view part, ElementType type, std::byte* to) {
  DateTime date;
  const std::string fault = parse_date(text, date);
  return fault.empty() ? parse_number(fmt::format("{}", date_part(date, part)), type, to) : fault;
}

Key dates_key() {
  return {.name = "dates",
          .type = KeyType::text,
          .count = Count::lists_by_name,
          .doc = "for columns of dates of ISO 8601, which numbers they become",
          .words = date_part_names()};
}

}  // namespace heddle::runtime::data
