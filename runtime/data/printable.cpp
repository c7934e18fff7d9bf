#include "runtime/data/printable.h"

namespace heddle::runtime::data {

std::string printable(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string out(text.substr(0, kLongest));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text.size() > kLongest ? out + "..." : out;
}

}  // namespace heddle::runtime::data
