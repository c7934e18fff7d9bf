// Prepend, Replace, Strip: small edits of a text.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

Normalizer make_prepend(const JsonValue& settings) {
  require_members(settings, {"type", "prepend"}, "Prepend");
  const std::string before = require(settings, "prepend").text("'prepend'");
  return [before](const std::string& text) { return text.empty() ? text : before + text; };
}

Normalizer make_replace(const JsonValue& settings) {
  require_members(settings, {"type", "pattern", "content"}, "Replace");
  const Pattern pattern = read_pattern(require(settings, "pattern"));
  const std::string content = require(settings, "content").text("'content'");
  return [pattern, content](const std::string& text) { return pattern.replace(text, content); };
}

Normalizer make_strip(const JsonValue& settings) {
  require_members(settings, {"type", "strip_left", "strip_right"}, "Strip");
  const bool left = flag_or(settings, "strip_left", true), right = flag_or(settings, "strip_right", true);
  return [left, right](const std::string& text) {
    size_t begin = text.size(), end = text.size(), last = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t here = at;
      if (is_space(next_code(text, at))) continue;
      begin = std::min(begin, here);
      last = at;
    }
    if (right) end = last;
    if (!left) begin = 0;
    return begin < end ? text.substr(begin, end - begin) : std::string();
  };
}

const RegisterPart prepend(NormalizerDef{"Prepend", make_prepend});
const RegisterPart replace(NormalizerDef{"Replace", make_replace});
const RegisterPart strip(NormalizerDef{"Strip", make_strip});

}  // namespace
}  // namespace heddle::runtime::text
