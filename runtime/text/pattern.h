// Pattern: finds matches in a text, to split or replace it. PCRE2 compiles regular expressions, with UTF and Unicode
// classes.
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

// What a split does with the matched text.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

class Pattern {
 public:
  // Throws UserError at `where` where PCRE2 rejects the expression.
  static Pattern expression(const std::string& expression, const Location& where);
  static Pattern literal(std::string text);
  static Pattern characters(std::function<bool(uint32_t)> matches);  // each matching character is a match

  // Calls `found` for each match from left to right. Throws UserError where matching takes too long.
  void each(std::string_view text, const std::function<void(Range)>& found) const;
  // Appends the parts into which text[range] is split, without empty parts. `invert`: matches and the text between them
  // change roles.
  void split(std::string_view text, Range range, Behavior behavior, bool invert, std::vector<Range>& out) const;
  std::string replace(std::string_view text, std::string_view by) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;  // immutable; shared by copies of the pattern
  std::string literal_;
  std::function<bool(uint32_t)> matches_;
};

}  // namespace heddle::runtime::text
