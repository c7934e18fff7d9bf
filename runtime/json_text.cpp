#include "runtime/json_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace heddle::runtime {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out + "\"";
}

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::string json_list(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ", ";
  body_ += json_quoted(key);
  body_ += ": ";
  body_ += json;
  return *this;
}

}  // namespace heddle::runtime
