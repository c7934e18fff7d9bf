// Dates of ISO 8601: what is one, and which numbers it becomes. Days, weekdays and days of the year are those of Python's
// datetime: (date(2024, 3, 1) - date(1970, 1, 1)).days, .weekday(), .timetuple().tm_yday.
#include "runtime/data/date_parts.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::runtime::data {
namespace {

DateTime date(const std::string& text) {
  DateTime to;
  EXPECT_EQ(parse_date(text, to), "") << text;
  return to;
}
std::string fault(const std::string& text) {
  DateTime to;
  return parse_date(text, to);
}

TEST(DateParts, DaysOfTheCalendar) {
  EXPECT_EQ(date("1970-01-01").day, 0);
  EXPECT_EQ(date("2024-03-01").day, 19783);
  EXPECT_EQ(date("1969-12-31").day, -1);
  EXPECT_EQ(date("2000-02-29").day, 11016);
  EXPECT_EQ(date("0001-01-01").day, -719162);
  EXPECT_EQ(date("9999-12-31").day, 2932896);
}

TEST(DateParts, Spellings) {
  for (const char* text : {"2024-03-01T18:00:30+02:00", "20240301T180030+0200", "2024-03-01 18:00:30.000+02",
                           " 2024-03-01t18:00:30,0+02:00 "}) {
    const DateTime d = date(text);
    EXPECT_EQ(d.day, 19783) << text;
    EXPECT_EQ(d.second, 64830) << text;
    EXPECT_EQ(d.offset, 7200) << text;
  }
  EXPECT_EQ(date("2024-03-01").second, 0);
  EXPECT_EQ(date("2024-03-01T06:30Z").second, 23400);
  EXPECT_EQ(date("2024-03-01T06:30:00.25-03:30").offset, -12600);
  EXPECT_EQ(date("2024-03-01T06:30:00.25").second, 23400.25);
}

TEST(DateParts, WhatIsNone) {
  for (const char* text : {"",
                           "2024",
                           "2024-03",
                           "2024-3-1",
                           "01.03.2024",
                           "03/01/2024",
                           "2024-0301",
                           "202403-01",
                           "2024-03-01T",
                           "2024-03-01T6:30",
                           "2024-03-01T06",
                           "2024-03-01T06:30:",
                           "2024-03-01T06:30:00.",
                           "2024-03-01T06:30+2",
                           "2024-03-01T06:30+25:00",
                           "2024-03-01X",
                           "2024-W09-5",
                           "-2024-03-01",
                           "2024-03-01  06:30",
                           "2024-03-01T06:30 PM"})
    EXPECT_EQ(fault(text), "is no date of ISO 8601") << text;
  for (const char* text :
       {"2023-02-29", "2024-02-30", "2024-13-01", "2024-00-10", "2024-01-00", "0000-01-01", "1900-02-29"})
    EXPECT_EQ(fault(text), "is a day that no calendar has") << text;
  for (const char* text : {"2024-03-01T24:00", "2024-03-01T23:60", "2024-03-01T23:59:60"})
    EXPECT_EQ(fault(text), "is a time that no day has") << text;
}

TEST(DateParts, Numbers) {
  const DateTime d = date("2024-03-01T18:00+02:00");  // a Friday, the 61st day of a year of 366
  const auto part = [&](std::string_view name) { return date_part(d, name); };
  EXPECT_EQ(part("days"), 19783 + 57600 / 86400.0);
  EXPECT_EQ(part("seconds"), 1709308800);
  EXPECT_EQ(part("year"), 2024);
  EXPECT_EQ(part("month"), 3);
  EXPECT_EQ(part("day"), 1);
  EXPECT_EQ(part("weekday"), 4);
  EXPECT_EQ(part("hour"), 18);
  EXPECT_EQ(part("minute"), 0);
  EXPECT_EQ(part("time_of_day"), 0.75);
  EXPECT_EQ(part("time_of_week"), 4.75 / 7);
  EXPECT_EQ(part("time_of_year"), 60.75 / 366);
  EXPECT_EQ(date_part(date("1969-12-31"), "weekday"), 2);  // a Wednesday
  EXPECT_EQ(date_part(date("0001-01-01"), "weekday"), 0);
  EXPECT_EQ(date_part(date("2023-12-31T23:59"), "minute"), 59);
  EXPECT_EQ(date_part(date("2023-12-31T12:00"), "time_of_year"), 364.5 / 365);
  for (const std::string& name : date_part_names()) EXPECT_GE(part(name), 0) << name;
}

TEST(DateParts, Elements) {
  int32_t weekday = -1;
  EXPECT_EQ(parse_date_part("2024-03-01", "weekday", ElementType::i32, reinterpret_cast<std::byte*>(&weekday)), "");
  EXPECT_EQ(weekday, 4);
  EXPECT_EQ(parse_date_part("2024-03-01T06:00", "days", ElementType::i32, reinterpret_cast<std::byte*>(&weekday)),
            "is no integer");
  float days = 0;
  EXPECT_EQ(parse_date_part("2024-03-01T06:00", "days", ElementType::f32, reinterpret_cast<std::byte*>(&days)), "");
  EXPECT_EQ(days, 19783.25F);
}

}  // namespace
}  // namespace heddle::runtime::data
