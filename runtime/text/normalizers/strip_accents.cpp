// StripAccents: removes combining marks; NFD before it parts them from their letters.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

std::string without_marks(std::string text) {
  if (is_ascii(text)) return text;
  std::string out;
  for (size_t at = 0; at < text.size();)
    if (const uint32_t code = next_code(text, at); !is_mark(code)) append_code(out, code);
  return out;
}

const RegisterPart strip_accents(NormalizerDef{"StripAccents", [](const JsonValue& settings) -> Normalizer {
                                                 require_members(settings, {"type"}, "StripAccents");
                                                 return without_marks;
                                               }});

}  // namespace
}  // namespace heddle::runtime::text
