// Numbers written as text, as the element of a column: exactly, in no locale.
//
//   parse_number(" +1.5e2 ", ElementType::f32, to) -> "", and 150 at `to`
//   parse_number("300", ElementType::u8, to) -> "does not fit u8"; parse_number("1x", ...) -> "is no number"
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/data/element.h"

namespace heddle::runtime::data {

// Writes the number, rounded once where the type is floating; integers may end in ".0". Returns what is wrong with the
// text, or "". Blanks around it and a sign are allowed; inf and nan are not.
std::string parse_number(std::string_view text, ElementType type, std::byte* to);
// Empty, or one of the words that stand for a value that is not known: NA, N/A, NaN, nan, null.
bool is_missing(std::string_view text);

}  // namespace heddle::runtime::data
