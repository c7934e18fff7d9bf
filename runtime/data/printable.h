// printable: text from a data file in the form that messages show. Control characters become '?', and it is cut to 60
// bytes.
//
//   printable("a\tb") -> "a?b"
#pragma once
#include <string>
#include <string_view>

namespace heddle::runtime::data {

std::string printable(std::string_view text);

}  // namespace heddle::runtime::data
