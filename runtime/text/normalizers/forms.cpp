// NFC, NFD, NFKC, NFKD: Unicode's normal forms.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

NormalizerDef form_def(const char* name, Form form) {
  return {name, [name, form](const JsonValue& settings) -> Normalizer {
            require_members(settings, {"type"}, name);
            return [form](const std::string& text) { return normal_form(text, form); };
          }};
}

const RegisterPart nfc(form_def("NFC", Form::nfc));
const RegisterPart nfd(form_def("NFD", Form::nfd));
const RegisterPart nfkc(form_def("NFKC", Form::nfkc));
const RegisterPart nfkd(form_def("NFKD", Form::nfkd));

}  // namespace
}  // namespace heddle::runtime::text
