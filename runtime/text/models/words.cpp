// WordLevel: a token for each piece. WordPiece (Schuster and Nakajima 2012; Wu et al. 2016): the longest token that a
// piece begins with, then the longest that continues it.
//
//   "##" continues:  "unaffable" -> un ##aff ##able
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "runtime/data/printable.h"
#include "runtime/text/part_def.h"
#include "runtime/text/trie.h"

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
  Trie first, inside;  // of WordPiece: tokens that begin a piece, and tokens that continue it, without their prefix
  int64_t most_characters = 100;

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

bool word_pieces(const Words& words, std::string_view piece, std::vector<uint32_t>& ids) {
  const size_t before = ids.size();
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };  // a character
  if (std::ranges::count_if(piece, [&](char c) { return !continues(c); }) > words.most_characters)
    return words.add_unknown(ids);
  for (size_t begin = 0; begin < piece.size();) {
    size_t longest = 0;
    uint32_t best = 0;
    (begin == 0 ? words.first : words.inside).each_prefix(piece.substr(begin), [&](size_t length, uint32_t id) {
      longest = length, best = id;
    });
    if (longest == 0) {  // one unknown for the whole piece
      ids.resize(before);
      return words.add_unknown(ids);
    }
    ids.push_back(best);
    begin += longest;
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
  Words words;
  words.vocabulary = read_vocabulary(require(request.settings, "vocab"));
  words.special = request.special;
  words.unknown = read_unknown(request.settings, words.vocabulary, "<unk>");
  return model_of_words<whole_word>(std::move(words));
}

Model make_word_piece(const ModelRequest& request) {
  const JsonValue& settings = request.settings;
  require_members(settings, {"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
                  "WordPiece");
  Words words;
  const JsonValue vocabulary = require(settings, "vocab");
  words.vocabulary = read_vocabulary(vocabulary);
  words.unknown = read_unknown(settings, words.vocabulary, "[UNK]");
  if (const auto most = settings.find("max_input_chars_per_word"))
    words.most_characters = most->id("'max_input_chars_per_word'");
  const std::string prefix = text_or(settings, "continuing_subword_prefix", "##");
  for (uint32_t id = 0; id < words.vocabulary.size(); ++id) {
    if (!words.vocabulary.holds(id)) continue;
    const std::string_view token = words.vocabulary.token(id);
    if (token.empty() || request.special.contains(token)) continue;
    require_short(token, vocabulary.where());
    words.first.add(token, id);
    if (token.size() > prefix.size() && token.starts_with(prefix)) words.inside.add(token.substr(prefix.size()), id);
  }
  return model_of_words<word_pieces>(std::move(words));
}

const RegisterPart word_level(ModelDef{"WordLevel", make_word_level});
const RegisterPart word_piece(ModelDef{"WordPiece", make_word_piece});

}  // namespace
}  // namespace heddle::runtime::text
