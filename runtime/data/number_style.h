// How a table spells its numbers: 1234.5, 1.234,5 or 1 234,5.
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
  std::string thousands = {};  // a character of UTF-8 between groups of three digits; empty: none
  bool plain() const { return decimal == '.' && thousands.empty(); }
};

// Of the settings of a reader. UserError where they do not go together.
NumberStyle number_style(const std::vector<ReaderSetting>& settings);

// As parse_number. What is no number may be true or yes, which are 1, or false or no, which are 0:
// in small letters, in capitals, or with one capital.
std::string parse_cell(std::string_view text, const NumberStyle& style, ElementType type, std::byte* to);

// Which settings would read a text as a number, and as another one, for a help; empty where none does.
std::string other_style(std::string_view text, const NumberStyle& style);

}  // namespace heddle::runtime::data
