// BertProcessing and RobertaProcessing: a token before a text and one behind it.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

std::optional<uint32_t> named(const JsonValue& settings, std::string_view key) {
  const JsonValue pair = require(settings, key).list(key);
  if (pair.size() != 2) pair.fail("expected a token and its id: [\"[SEP]\", 102]");
  return pair.first()->next()->id("an id");
}

Template make_bert(const JsonValue& settings) {
  require_members(settings, {"type", "sep", "cls"}, "BertProcessing");
  return {named(settings, "cls"), std::nullopt, named(settings, "sep")};
}

Template make_roberta(const JsonValue& settings) {
  require_members(settings, {"type", "sep", "cls", "trim_offsets", "add_prefix_space"}, "RobertaProcessing");
  return {named(settings, "cls"), std::nullopt, named(settings, "sep")};
}

const RegisterPart bert(PostProcessorDef{{"BertProcessing", make_bert}});
const RegisterPart roberta(PostProcessorDef{{"RobertaProcessing", make_roberta}});

}  // namespace
}  // namespace heddle::runtime::text
