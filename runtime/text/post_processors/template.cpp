// TemplateProcessing: the ids around a text as the file's template says; ByteLevel adds none.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/printable.h"
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

void append_special(Template& out, const JsonValue& part, const JsonValue& specials) {
  const JsonValue id = require(part.object("'SpecialToken'"), "id");
  const std::string name = id.text("'id'");
  const std::optional<JsonValue> special = specials.find(name);
  if (!special)
    id.fail(fmt::format("'special_tokens' has no '{}'", data::printable(name)), "add it there, with its ids");
  for (auto item = require(*special, "ids").list("'ids'").first(); item; item = item->next())
    out.emplace_back(item->id("an id"));
}

Template make_template(const JsonValue& settings) {
  require_members(settings, {"type", "single", "pair", "special_tokens"}, "TemplateProcessing");
  const JsonValue specials = require(settings, "special_tokens").object("'special_tokens'");
  Template out;
  const JsonValue single = require(settings, "single").list("'single'");
  for (auto item = single.first(); item; item = item->next()) {
    require_members(item->object("a part of 'single'"), {"SpecialToken", "Sequence"}, "a part of 'single'");
    if (const auto special = item->find("SpecialToken"))
      append_special(out, *special, specials);
    else if (const auto sequence = item->find("Sequence"); sequence && require(*sequence, "id").text("'id'") == "A")
      out.emplace_back(std::nullopt);
    else
      item->fail("a part of 'single' is a SpecialToken, or the Sequence A");
  }
  if (std::count(out.begin(), out.end(), std::nullopt) != 1) single.fail("'single' must hold the Sequence A once");
  return out;
}

const RegisterPart processing(PostProcessorDef{{"TemplateProcessing", make_template}});
const RegisterPart byte_level(PostProcessorDef{
    {"ByteLevel", [](const JsonValue& settings) {
       require_members(settings, {"type", "add_prefix_space", "trim_offsets", "use_regex"}, "ByteLevel");
       return Template{std::nullopt};
     }}});

}  // namespace
}  // namespace heddle::runtime::text
