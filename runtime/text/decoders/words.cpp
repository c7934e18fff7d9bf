// WordPiece, BPEDecoder, Metaspace: where words begin and end, as spaces.
#include <array>
#include <utility>

#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// A space before a sign, and around what English shortens.
std::string clean_up(std::string text) {
  static constexpr std::array<std::pair<const char*, const char*>, 11> kEdits = {{{" .", "."},
                                                                                  {" ?", "?"},
                                                                                  {" !", "!"},
                                                                                  {" ,", ","},
                                                                                  {" ' ", "'"},
                                                                                  {" n't", "n't"},
                                                                                  {" 'm", "'m"},
                                                                                  {" do not", " don't"},
                                                                                  {" 's", "'s"},
                                                                                  {" 've", "'ve"},
                                                                                  {" 're", "'re"}}};
  for (const auto& [from, to] : kEdits) text = Pattern::literal(from).replace(text, to);
  return text;
}

Decoder make_word_piece(const JsonValue& settings) {
  require_members(settings, {"type", "prefix", "cleanup"}, "WordPiece");
  const std::string prefix = text_or(settings, "prefix", "##");
  const bool cleans = flag_or(settings, "cleanup", true);
  return [=](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      const bool continues = i > 0 && !prefix.empty() && token.starts_with(prefix);
      if (continues)
        token.erase(0, prefix.size());
      else if (i > 0)
        token.insert(0, 1, ' ');
      if (cleans) token = clean_up(token);
    }
    return tokens;
  };
}

Decoder make_bpe(const JsonValue& settings) {
  require_members(settings, {"type", "suffix"}, "BPEDecoder");
  const Pattern suffix = Pattern::literal(text_or(settings, "suffix", "</w>"));
  return [=](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = suffix.replace(tokens[i], i + 1 == tokens.size() ? "" : " ");
    return tokens;
  };
}

Decoder make_metaspace(const JsonValue& settings) {
  require_members(settings, {"type", "replacement", "prepend_scheme", "split", "str_rep", "add_prefix_space"},
                  "Metaspace");
  const Pattern mark = Pattern::literal(text_or(settings, "replacement", "▁"));
  const bool adds =
      text_or(settings, "prepend_scheme", flag_or(settings, "add_prefix_space", true) ? "always" : "never") != "never";
  return [=](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = mark.replace(tokens[i], i == 0 && adds ? "" : " ");
    return tokens;
  };
}

const RegisterPart word_piece(DecoderDef{"WordPiece", make_word_piece});
const RegisterPart bpe(DecoderDef{"BPEDecoder", make_bpe});
const RegisterPart metaspace(DecoderDef{"Metaspace", make_metaspace});

}  // namespace
}  // namespace heddle::runtime::text
