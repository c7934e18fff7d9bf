// WordLevel: a token for each piece. WordPiece (Schuster and Nakajima 2012; Wu et al. 2016): the longest token that a
// piece begins with, then the longest that continues it.
//
//   "##" continues:  "unaffable" -> un ##aff ##able
#include <fmt/format.h>

#include <memory>

#include "runtime/data/printable.h"
#include "runtime/text/part_def.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {
namespace {

// Absent from the vocabulary, it is nothing: an unknown piece is then refused.
std::optional<uint32_t> read_unknown(const JsonValue& settings, const Vocabulary& vocabulary, std::string otherwise) {
  return vocabulary.find(text_or(settings, "unk_token", std::move(otherwise)));
}

struct Words {
  Vocabulary vocabulary;
  std::optional<uint32_t> unknown;
  std::set<std::string, std::less<>> special;
  std::string prefix;
  uint32_t most_characters = 100;

  std::optional<uint32_t> find(std::string_view token) const {
    return special.contains(token) ? std::nullopt : vocabulary.find(token);
  }
  bool add_unknown(std::vector<uint32_t>& ids) const {
    if (unknown) ids.push_back(*unknown);
    return unknown.has_value();
  }
};

bool whole_word(const Words& words, std::string_view piece, std::vector<uint32_t>& ids) {
  const std::optional<uint32_t> id = words.find(piece);
  if (!id) return words.add_unknown(ids);
  ids.push_back(*id);
  return true;
}

bool is_inside(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }  // a character

bool word_pieces(const Words& words, std::string_view piece, std::vector<uint32_t>& ids) {
  const size_t before = ids.size();
  size_t characters = 0;
  for (const char c : piece) characters += is_inside(c) ? 0 : 1;
  if (characters > words.most_characters) return words.add_unknown(ids);
  std::string token;
  for (size_t begin = 0; begin < piece.size();) {
    token = begin == 0 ? "" : words.prefix;
    const size_t stem = token.size();
    token += piece.substr(begin, words.vocabulary.longest());
    while (token.size() > stem) {
      const size_t end = begin + token.size() - stem;
      if (end == piece.size() || !is_inside(piece[end]))
        if (const auto id = words.find(token)) {
          ids.push_back(*id);
          break;
        }
      token.pop_back();
    }
    if (token.size() == stem) {  // one unknown for the whole piece
      ids.resize(before);
      return words.add_unknown(ids);
    }
    begin += token.size() - stem;
  }
  return true;
}

template <auto encode>
Model model_of_words(Words words) {
  Model model;
  model.unknown = words.unknown;
  model.vocabulary = words.vocabulary;
  model.encode = [shared = std::make_shared<const Words>(std::move(words))](
                     std::string_view piece, std::vector<uint32_t>& ids) { return encode(*shared, piece, ids); };
  return model;
}

Model make_word_level(const ModelRequest& request) {
  require_members(request.settings, {"type", "vocab", "unk_token"}, "WordLevel");
  Words words{.vocabulary = read_vocabulary(require(request.settings, "vocab")),
              .unknown = {},
              .special = request.special,
              .prefix = {}};
  words.unknown = read_unknown(request.settings, words.vocabulary, "<unk>");
  return model_of_words<whole_word>(std::move(words));
}

Model make_word_piece(const ModelRequest& request) {
  const JsonValue& settings = request.settings;
  require_members(settings, {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
                  "WordPiece");
  Words words{.vocabulary = read_vocabulary(require(settings, "vocab")),
              .unknown = {},
              .special = request.special,
              .prefix = text_or(settings, "continuing_subword_prefix", "##")};
  words.unknown = read_unknown(settings, words.vocabulary, "[UNK]");
  if (const auto most = settings.find("max_input_chars_per_word"))
    words.most_characters = most->id("'max_input_chars_per_word'");
  return model_of_words<word_pieces>(std::move(words));
}

const RegisterPart word_level(ModelDef{"WordLevel", make_word_level});
const RegisterPart word_piece(ModelDef{"WordPiece", make_word_piece});

}  // namespace
}  // namespace heddle::runtime::text
