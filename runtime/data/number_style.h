// NumberStyle: how a table writes numbers, such as 1234.5, 1.234,5 or 1 234,5.
//
//   parse_cell("1.234,5", {.decimal = ',', .thousands = "."}, ElementType::f32, to) -> "", and 1234.5 at `to`
//   parse_cell("yes", {}, ElementType::f32, to) -> "", and 1 at `to`
//   other_style("1,5", {}) -> "\"decimal\": \",\" reads it as 1.5"
#pragma once
#include <string>
#include <string_view>

#include "runtime/data/element.h"
#include "runtime/data/reader_def.h"

namespace heddle::runtime::data {

struct NumberStyle {
  char decimal = '.';
  std::string thousands = {};  // a UTF-8 character between groups of three digits; empty: none
  bool plain() const { return decimal == '.' && thousands.empty(); }
};

// The style that a reader's settings state. Throws UserError where they do not go together.
NumberStyle number_style(const std::vector<ReaderSetting>& settings);

// As parse_number. Also reads true and yes as 1, and false and no as 0: in lower case, in upper case, or with one
// capital.
std::string parse_cell(std::string_view text, const NumberStyle& style, ElementType type, std::byte* to);

// A help that names the settings with which the text would be a number, or another number; empty where there are none.
std::string other_style(std::string_view text, const NumberStyle& style);

}  // namespace heddle::runtime::data
