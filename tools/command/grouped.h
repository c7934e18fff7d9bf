// "1,234,567": a whole number that people read.
#pragma once
#include <cstdint>
#include <string>

namespace heddle::tools {

inline std::string grouped(int64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace heddle::tools
