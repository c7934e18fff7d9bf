// ByteLevel: GPT-2's words, and each byte of them as a character.
#include "runtime/text/byte_level.h"

#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

void require_keys(const JsonValue& settings) {
  require_members(settings, {"type", "add_prefix_space", "trim_offsets", "use_regex"}, "ByteLevel");
}

PreTokenizer make_byte_level(const JsonValue& settings) {
  require_keys(settings);
  const bool prefix = flag_or(settings, "add_prefix_space", true), words = flag_or(settings, "use_regex", true);
  const Pattern pattern = Pattern::expression(kByteLevelExpression, settings.where());
  return [=](Pieces& pieces) {
    if (prefix)
      rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
        if (!piece.starts_with(' ')) out += ' ';
        out += piece;
      });
    if (words) split_pieces(pieces, pattern, Behavior::isolated);
    rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) { append_byte_level(out, piece); });
  };
}

const RegisterPart byte_level(PreTokenizerDef{"ByteLevel", make_byte_level});

}  // namespace
}  // namespace heddle::runtime::text
