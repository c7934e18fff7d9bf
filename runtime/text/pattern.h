// Patterns: what splits or replaces text. A regular expression is compiled by PCRE2 with UTF and Unicode's classes.
//
//   Pattern::expression("\\s+", where).split("a  b", Behavior::removed, false, out) -> "a", "b"
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostic.h"

namespace heddle::runtime::text {

struct Range {
  uint32_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
};

// What becomes of the text that a pattern matches.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

class Pattern {
 public:
  // Throws UserError at `where` where PCRE2 does not take it.
  static Pattern expression(const std::string& expression, const Location& where);
  static Pattern literal(std::string text);
  static Pattern characters(std::function<bool(uint32_t)> matches);  // each character that matches alone

  // Calls `found` for each match from left to right. Throws UserError where an expression takes too long.
  void each(std::string_view text, const std::function<void(Range)>& found) const;
  // Appends the parts of text[range]; empty parts are left out.
  void split(std::string_view text, Range range, Behavior behavior, bool invert, std::vector<Range>& out) const;
  std::string replace(std::string_view text, std::string_view by) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;  // immutable, and shared by copies of what holds it
  std::string literal_;
  std::function<bool(uint32_t)> matches_;
};

}  // namespace heddle::runtime::text
