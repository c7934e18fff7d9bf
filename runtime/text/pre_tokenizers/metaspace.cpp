// Metaspace: a visible character for each space, which begins a word, as SentencePiece has it.
#include <fmt/format.h>

#include "runtime/data/printable.h"
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

PreTokenizer make_metaspace(const JsonValue& settings) {
  // str_rep and add_prefix_space are those of older files.
  require_members(settings, {"type", "replacement", "prepend_scheme", "split", "str_rep", "add_prefix_space"},
                  "Metaspace");
  const std::string mark = text_or(settings, "replacement", "▁");
  const bool adds = flag_or(settings, "add_prefix_space", true), splits = flag_or(settings, "split", true);
  const std::string scheme = text_or(settings, "prepend_scheme", adds ? "always" : "never");
  if (scheme != "always" && scheme != "never" && scheme != "first")
    settings.find("prepend_scheme")
        ->fail(fmt::format("there is no prepend_scheme '{}'", data::printable(scheme)),
               "known are always, never, first");
  return [=, pattern = Pattern::literal(mark)](Pieces& pieces) {
    rewrite_pieces(pieces, [&](std::string_view piece, bool first, std::string& out) {
      const bool marked = piece.starts_with(' ') || piece.starts_with(mark);
      if (!marked && (scheme == "always" || (scheme == "first" && first))) out += mark;
      for (const char c : piece) c == ' ' ? void(out += mark) : void(out += c);
    });
    if (splits) split_pieces(pieces, pattern, Behavior::merged_with_next);
  };
}

const RegisterPart metaspace(PreTokenizerDef{"Metaspace", make_metaspace});

}  // namespace
}  // namespace heddle::runtime::text
