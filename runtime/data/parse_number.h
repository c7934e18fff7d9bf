// Parses numbers in text as elements of a column. The parsing is exact and does not depend on the locale.
//
//   parse_number(" +1.5e2 ", ElementType::f32, to) -> "", and 150 at `to`
//   parse_number("300", ElementType::u8, to) -> "does not fit u8"; parse_number("1x", ...) -> "is no number"
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/data/element.h"

namespace heddle::runtime::data {

// Writes the number to `to`, rounded once where the type is floating. An integer may end in ".0". Blanks around the
// number and a sign are allowed; inf and nan are not. Returns "", or what is wrong with the text.
std::string parse_number(std::string_view text, ElementType type, std::byte* to);
// Whether the text is empty or one of the words for a missing value: NA, N/A, NaN, nan, null.
bool is_missing(std::string_view text);

}  // namespace heddle::runtime::data
