#include "runtime/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/data/printable.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::text {

uint32_t Tokenizer::size() const {
  return std::max(model.vocabulary.size(), added.empty() ? 0 : added.rbegin()->first + 1);
}

std::optional<std::string_view> Tokenizer::token(uint32_t id) const {
  if (const auto found = added.find(id); found != added.end()) return found->second.text;
  return model.vocabulary.holds(id) ? std::optional(model.vocabulary.token(id)) : std::nullopt;
}

std::optional<uint32_t> Tokenizer::find(std::string_view token) const {
  for (const auto& [id, one] : added)
    if (one.text == token) return id;
  return model.vocabulary.find(token);
}

std::string Tokenizer::decode(std::span<const uint32_t> ids, Specials specials, const Location& where) const {
  Tokens tokens;
  for (const uint32_t id : ids) {
    const std::optional<std::string_view> found = token(id);
    if (!found)
      throw UserError(where, fmt::format("no token has the id {}; the vocabulary ends with {}", id, size() - 1),
                      "the ids are of another tokenizer");
    const auto one = added.find(id);
    if (specials == Specials::leave_out && one != added.end() && one->second.special) continue;
    tokens.emplace_back(*found);
  }
  if (decoder) tokens = decoder(std::move(tokens));
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) text += (i > 0 && !decoder ? " " : "") + tokens[i];
  return text;
}

NamedIds named_ids(const Tokenizer& tokenizer) {
  const auto first_of = [&](auto names) -> std::optional<uint32_t> {
    for (const char* name : names)
      for (const auto& [id, one] : tokenizer.added)
        if (one.special && one.text == name) return id;
    return std::nullopt;
  };
  NamedIds named;
  named.begin = first_of(
      std::array{"<s>", "<bos>", "<begin>", "[BOS]", "<|begin_of_text|>", "<|startoftext|>", "[CLS]", "<|endoftext|>"});
  named.end = first_of(std::array{"</s>", "<eos>", "<end>", "[EOS]", "<|end_of_text|>", "[SEP]", "<|endoftext|>"});
  named.padding = first_of(std::array{"<pad>", "[PAD]", "<|pad|>"});
  named.unknown = tokenizer.model.unknown;
  return named;
}

bool Encoder::piece(std::string_view text, std::vector<uint32_t>& ids) {
  if (!WordCache::takes(text)) return tokenizer_.model.encode(text, ids);
  const WordCache::Place place = cache_.find(text);
  if (place.known) {
    ids.insert(ids.end(), place.ids.begin(), place.ids.end());
    return true;
  }
  const size_t first = ids.size();
  if (!tokenizer_.model.encode(text, ids)) return false;
  cache_.add(text, place.hash, std::span(ids).subspan(first));
  return true;
}

bool Encoder::normalized(std::string_view text, bool begins, std::vector<uint32_t>& ids) {
  pieces_.text.assign(text);
  pieces_.ranges.assign(text.empty() ? 0 : 1, Range{0, static_cast<uint32_t>(text.size())});
  pieces_.begins = begins;
  if (tokenizer_.pre_tokenizer) tokenizer_.pre_tokenizer(pieces_);
  return std::ranges::all_of(pieces_.ranges, [&](const Range& range) {
    return piece(std::string_view(pieces_.text).substr(range.begin, range.end - range.begin), ids);
  });
}

bool Encoder::plain(std::string_view text, bool begins, const EncodeOptions& options, std::vector<uint32_t>& ids) {
  const std::string own = tokenizer_.normalizer ? tokenizer_.normalizer(std::string(text)) : std::string();
  const std::string_view seen = tokenizer_.normalizer ? std::string_view(own) : text;
  bool known = true;
  tokenizer_.normalized.each(seen, options.special, [&](Range range, const AddedToken* token) {
    if (token != nullptr)
      ids.push_back(token->id);
    else
      known = known && normalized(seen.substr(range.begin, range.end - range.begin), begins && range.begin == 0, ids);
  });
  return known;
}

bool Encoder::encode(std::string_view text, const EncodeOptions& options, std::vector<uint32_t>& ids) {
  bool known = true;
  const auto inner = [&] {
    tokenizer_.raw.each(text, options.special, [&](Range range, const AddedToken* token) {
      if (token != nullptr)
        ids.push_back(token->id);
      else
        known = known && plain(text.substr(range.begin, range.end - range.begin), range.begin == 0, options, ids);
    });
  };
  if (!options.around) {
    inner();
    return known;
  }
  for (const std::optional<uint32_t>& id : tokenizer_.around) id ? ids.push_back(*id) : inner();
  return known;
}

void Encoder::encode(const SourceFile& file, Range range, const EncodeOptions& options, std::vector<uint32_t>& ids) {
  const std::string_view text = std::string_view(file.text).substr(range.begin, range.end - range.begin);
  if (encode(text, options, ids)) return;
  // Bisection: the shortest beginning of the text that fails ends with the character that has no token.
  std::vector<uint32_t> ends;
  for (size_t at = 0; at < text.size();) {
    next_code(text, at);
    ends.push_back(static_cast<uint32_t>(at));
  }
  std::vector<uint32_t> scratch;
  size_t good = 0, bad = ends.size();  // characters
  while (bad - good > 1) {
    const size_t middle = (good + bad) / 2;
    scratch.clear();
    (encode(text.substr(0, ends[middle - 1]), options, scratch) ? good : bad) = middle;
  }
  const uint32_t begin = bad > 1 ? ends[bad - 2] : 0, end = ends[bad - 1];
  size_t at = begin;
  const uint32_t code = next_code(text, at);
  throw UserError(Location{&file, range.begin + begin, range.begin + end},
                  fmt::format("the tokenizer has no token for '{}' (U+{:04X}), and none for what is unknown",
                              data::printable(text.substr(begin, end - begin)), code),
                  "train it on text that has the character, with byte_fallback, or with an unknown token");
}

}  // namespace heddle::runtime::text
