// A file that a table names, and where it does.
//
//   a.csv, line 3: "cats/7.png",1  ->  {.column = 0, .row = 1, .name = "cats/7.png", .line = 3, .column_in_line = 1}
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::runtime::data {

struct FilePlace {
  size_t column = 0;  // of the request
  int64_t row = 0;
  std::string name;                      // from the data's folder
  size_t file = 0;                       // of several tables
  int64_t line = 0, column_in_line = 0;  // counted from 1
};

}  // namespace heddle::runtime::data
