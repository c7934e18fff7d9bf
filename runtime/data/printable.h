// Text from a data file as messages show it: control characters as '?', cut to 60 bytes.
//
//   printable("a\tb") -> "a?b"
#pragma once
#include <string>
#include <string_view>

namespace heddle::runtime::data {

std::string printable(std::string_view text);

}  // namespace heddle::runtime::data
