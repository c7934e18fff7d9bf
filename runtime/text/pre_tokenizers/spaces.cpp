// WhitespaceSplit, Whitespace, CharDelimiterSplit: words between spaces or another character.
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// Runs of word characters, and runs of signs.
void split_words(Pieces& pieces) {
  split_pieces(pieces, Pattern::characters(is_space), Behavior::removed);
  std::vector<Range> parts;
  for (const Range& range : pieces.ranges) {
    const std::string_view piece = std::string_view(pieces.text).substr(range.begin, range.end - range.begin);
    bool word = false;
    for (size_t at = 0; at < piece.size();) {
      const auto begin = static_cast<uint32_t>(at);
      const bool is = is_word(next_code(piece, at));
      const auto end = static_cast<uint32_t>(range.begin + at);
      if (begin == 0 || is != word)
        parts.push_back({range.begin + begin, end});
      else
        parts.back().end = end;
      word = is;
    }
  }
  pieces.ranges = std::move(parts);
}

PreTokenizer make_delimiter(const JsonValue& settings) {
  require_members(settings, {"type", "delimiter"}, "CharDelimiterSplit");
  const Pattern pattern = Pattern::literal(require(settings, "delimiter").text("'delimiter'"));
  return [pattern](Pieces& pieces) { split_pieces(pieces, pattern, Behavior::removed); };
}

const RegisterPart whitespace(PreTokenizerDef{"Whitespace", [](const JsonValue& settings) -> PreTokenizer {
                                                require_members(settings, {"type"}, "Whitespace");
                                                return split_words;
                                              }});
const RegisterPart whitespace_split(PreTokenizerDef{"WhitespaceSplit", [](const JsonValue& settings) -> PreTokenizer {
                                                      require_members(settings, {"type"}, "WhitespaceSplit");
                                                      return [pattern = Pattern::characters(is_space)](Pieces& pieces) {
                                                        split_pieces(pieces, pattern, Behavior::removed);
                                                      };
                                                    }});
const RegisterPart delimiter(PreTokenizerDef{"CharDelimiterSplit", make_delimiter});

}  // namespace
}  // namespace heddle::runtime::text
