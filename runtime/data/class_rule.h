// The rule by which names found in the training rows become classes: how often a name must occur, and which class rare
// names get.
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
  int64_t row = 0;  // the first row that has the name
  int64_t count = 0;
};
// Sorted by the bytes of the names.
using FoundNames = std::map<std::string, FoundName, std::less<>>;

struct ClassRule {
  int64_t min_count = 1;  // least number of rows of a class
  std::string other;      // the class of all other names; empty: no such class

  std::vector<std::string> classes(const FoundNames& found) const;
};

// The rule that a reader's settings state. Throws UserError where they do not go together.
ClassRule class_rule(const std::vector<ReaderSetting>& settings);
// The key `classes` and the keys of the rule; `of` is what names the classes, for the description.
std::vector<Key> class_keys(const std::string& of);

}  // namespace heddle::runtime::data
