// Sequence: the ids that post-processors put around a text one after another.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

Template make_sequence(const JsonValue& settings) {
  require_members(settings, {"type", "processors"}, "Sequence");
  Template out = {std::nullopt};
  for (auto item = require(settings, "processors").list("'processors'").first(); item; item = item->next()) {
    Template outer;
    for (const std::optional<uint32_t>& id : post_processor_of(*item).make(*item)) {
      if (id)
        outer.push_back(id);
      else
        outer.insert(outer.end(), out.begin(), out.end());
    }
    out = std::move(outer);
  }
  return out;
}

const RegisterPart sequence(PostProcessorDef{{"Sequence", make_sequence}});

}  // namespace
}  // namespace heddle::runtime::text
