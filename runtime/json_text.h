// Writes JSON text, for --json, the lines of a run's log, and the headers of weights files.
//
//   JsonObject o; o.text("name", "a\"b"); o.number("loss", 0.25); o.str() -> {"name": "a\"b", "loss": 0.25}
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

bool is_utf8(std::string_view text);
std::string json_quoted(std::string_view text);
std::string json_number(double value);  // shortest text that reads back equal; null: nan, infinities
std::string json_list(const std::vector<std::string>& items);   // of JSON texts
std::string json_texts(const std::vector<std::string>& words);  // quotes each word

class JsonObject {
 public:
  JsonObject& text(std::string_view key, std::string_view value) { return raw(key, json_quoted(value)); }
  JsonObject& number(std::string_view key, double value) { return raw(key, json_number(value)); }
  JsonObject& integer(std::string_view key, int64_t value) { return raw(key, std::to_string(value)); }
  JsonObject& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonObject& raw(std::string_view key, std::string_view json);
  std::string str() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace heddle::runtime
