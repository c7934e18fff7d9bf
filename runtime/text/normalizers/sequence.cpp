// Sequence: normalizers one after another.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

constexpr size_t kMost = 64;

Normalizer make_sequence(const JsonValue& settings) {
  require_members(settings, {"type", "normalizers"}, "Sequence");
  std::vector<Normalizer> parts;
  for (auto item = require(settings, "normalizers").list("'normalizers'").first(); item; item = item->next())
    if (parts.size() == kMost)
      item->fail("more than 64 normalizers in a Sequence", "each of them passes over the text: leave some out");
    else
      parts.push_back(normalizer_of(*item).make(*item));
  return [parts](std::string text) {
    for (const Normalizer& part : parts) text = part(std::move(text));
    return text;
  };
}

const RegisterPart sequence(NormalizerDef{"Sequence", make_sequence});

}  // namespace
}  // namespace heddle::runtime::text
