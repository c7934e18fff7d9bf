#include "runtime/text/vocabulary.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "runtime/data/printable.h"

namespace heddle::runtime::text {

size_t Vocabulary::slot(std::string_view token) const {
  const size_t mask = table_.size() - 1;
  for (size_t at = XXH3_64bits(token.data(), token.size()) & mask;; at = (at + 1) & mask)
    if (table_[at] == 0 || this->token(table_[at] - 1) == token) return at;
}

void Vocabulary::grow() {
  table_.assign(std::max<size_t>(16, table_.size() * 2), 0);
  for (uint32_t id = 0; id < places_.size(); ++id)
    if (places_[id].there) table_[slot(token(id))] = id + 1;
}

bool Vocabulary::add(std::string_view token, uint32_t id) {
  if (holds(id)) return false;
  if (table_.size() < 2 * (count_ + 1)) grow();
  const size_t at = slot(token);
  if (table_[at] != 0) return false;
  if (places_.size() <= id) places_.resize(id + 1);
  places_[id] = {static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(token.size()), true};
  text_ += token;
  table_[at] = id + 1;
  ++count_;
  longest_ = std::max(longest_, token.size());
  return true;
}

std::optional<uint32_t> Vocabulary::find(std::string_view token) const {
  if (table_.empty() || token.size() > longest_) return std::nullopt;
  const uint32_t found = table_[slot(token)];
  return found == 0 ? std::nullopt : std::optional(found - 1);
}

std::string_view Vocabulary::token(uint32_t id) const {
  return std::string_view(text_).substr(places_[id].begin, places_[id].size);
}

Vocabulary read_vocabulary(const JsonValue& object) {
  Vocabulary vocabulary;
  for (auto item = object.object("'vocab'").first(); item; item = item->next()) {
    const std::string token = item->key();
    const std::string shown = data::printable(token);
    const uint32_t id = item->id(fmt::format("the id of '{}'", shown));
    if (vocabulary.holds(id))
      item->fail(fmt::format("'{}' has the id {}, as '{}' has", shown, id, data::printable(vocabulary.token(id))),
                 "each token needs an id of its own");
    if (!vocabulary.add(token, id))
      throw UserError(item->key_where(), fmt::format("the token '{}' is given twice", shown), "remove one of them");
  }
  return vocabulary;
}

void require_short(std::string_view token, const Location& where) {
  constexpr size_t kLongest = 1024;
  if (token.size() > kLongest)
    throw UserError(where, fmt::format("the token '{}' is longer than {} bytes", data::printable(token), kLongest),
                    "remove it");
}

std::vector<uint32_t> byte_tokens(const Vocabulary& vocabulary, const Location& where) {
  std::vector<uint32_t> ids;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string token = fmt::format("<0x{:02X}>", byte);
    const std::optional<uint32_t> id = vocabulary.find(token);
    if (!id)
      throw UserError(where, fmt::format("byte_fallback needs a token of each byte; the vocabulary has no '{}'", token),
                      "set \"byte_fallback\": false, or add the tokens <0x00> to <0xFF>");
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace heddle::runtime::text
