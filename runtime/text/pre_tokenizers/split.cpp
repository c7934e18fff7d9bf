// Split and Sequence: pieces by a pattern of the file's own, and pre-tokenizers one after another.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

PreTokenizer make_split(const JsonValue& settings) {
  require_members(settings, {"type", "pattern", "behavior", "invert"}, "Split");
  const Pattern pattern = read_pattern(require(settings, "pattern"));
  const Behavior behavior = read_behavior(settings);
  const bool invert = flag_or(settings, "invert", false);
  return [=](Pieces& pieces) { split_pieces(pieces, pattern, behavior, invert); };
}

PreTokenizer make_sequence(const JsonValue& settings) {
  require_members(settings, {"type", "pretokenizers"}, "Sequence");
  std::vector<PreTokenizer> parts;
  for (auto item = require(settings, "pretokenizers").list("'pretokenizers'").first(); item; item = item->next())
    parts.push_back(pre_tokenizer_of(*item).make(*item));
  return [parts](Pieces& pieces) {
    for (const PreTokenizer& part : parts) part(pieces);
  };
}

const RegisterPart split(PreTokenizerDef{"Split", make_split});
const RegisterPart sequence(PreTokenizerDef{"Sequence", make_sequence});

}  // namespace
}  // namespace heddle::runtime::text
