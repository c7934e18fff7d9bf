// Names of classes that are found among the training rows, and what becomes of those that are rare.
//
//   {"min_count": 2, "other": "rest"} with the names a, a, b, c, c -> the classes a, c, rest; b, and any name that no
//   training row has, is the last one
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct FoundName {
  int64_t row = 0;  // the first that has it
  int64_t count = 0;
};
// By their bytes.
using FoundNames = std::map<std::string, FoundName, std::less<>>;

struct ClassRule {
  int64_t min_count = 1;  // rows of a name that is a class
  std::string other;      // the class of all other names; empty: there is none

  std::vector<std::string> classes(const FoundNames& found) const;
};

// Of the settings of a reader. UserError where they do not go together.
ClassRule class_rule(const std::vector<ReaderSetting>& settings);
// `classes`, and the keys of the rule.
std::vector<Key> class_keys(const std::string& of);

}  // namespace heddle::runtime::data
