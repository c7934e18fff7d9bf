// Lowercase: each character in lower case.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

const RegisterPart lower(NormalizerDef{"Lowercase", [](const JsonValue& settings) -> Normalizer {
                                         require_members(settings, {"type"}, "Lowercase");
                                         return [](const std::string& text) { return lowercase(text); };
                                       }});

}  // namespace
}  // namespace heddle::runtime::text
