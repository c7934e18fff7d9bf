// BertNormalizer: what BERT does to a text (Devlin et al. 2018): control characters go, ideographs stand alone, accents
// and capitals go.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

bool is_ideograph(uint32_t code) {
  const auto between = [code](uint32_t low, uint32_t high) { return code >= low && code <= high; };
  return between(0x4e00, 0x9fff) || between(0x3400, 0x4dbf) || between(0x20000, 0x2a6df) || between(0x2a700, 0x2b73f) ||
         between(0x2b740, 0x2b81f) || between(0x2b920, 0x2ceaf) || between(0xf900, 0xfaff) || between(0x2f800, 0x2fa1f);
}

std::string clean(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = next_code(text, at);
    if (is_space(code))
      code == 0xb || code == 0xc || code == 0x85 ? void() : void(out += ' ');
    else if (code != 0 && code != 0xfffd && !is_control(code))
      append_code(out, code);
  }
  return out;
}

std::string ideographs_apart(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = next_code(text, at);
    const bool apart = is_ideograph(code);
    if (apart) out += ' ';
    append_code(out, code);
    if (apart) out += ' ';
  }
  return out;
}

std::string without_accents(std::string_view text) {
  const std::string parted = normal_form(text, Form::nfd);
  std::string out;
  for (size_t at = 0; at < parted.size();)
    if (const uint32_t code = next_code(parted, at); !is_nonspacing(code)) append_code(out, code);
  return out;
}

Normalizer make_bert(const JsonValue& settings) {
  require_members(settings, {"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"},
                  "BertNormalizer");
  const bool cleans = flag_or(settings, "clean_text", true), parts = flag_or(settings, "handle_chinese_chars", true);
  const bool lowers = flag_or(settings, "lowercase", true), strips = flag_or(settings, "strip_accents", lowers);
  return [=](std::string text) {
    if (cleans) text = clean(text);
    if (parts && !is_ascii(text)) text = ideographs_apart(text);
    if (strips && !is_ascii(text)) text = without_accents(text);
    return lowers ? lowercase(text) : text;
  };
}

const RegisterPart bert(NormalizerDef{"BertNormalizer", make_bert});

}  // namespace
}  // namespace heddle::runtime::text
