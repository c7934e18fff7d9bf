#include "runtime/data/drawn/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ir/check.h"
#include "runtime/text/train.h"

namespace heddle::runtime::data {
namespace {

constexpr int64_t kMostLength = 4096;

std::vector<uint8_t> behind_begin(const DrawnVocabulary& vocabulary, std::string_view text) {
  std::vector<uint8_t> ids = vocabulary.encode(text);
  ids.insert(ids.begin(), vocabulary.id("<begin>"));
  return ids;
}

void write_ids(const SyntheticRow& r, const std::vector<uint8_t>& ids, std::byte* to) {
  for (size_t i = 0; i < static_cast<size_t>(r.column.dims[0]); ++i) to[i] = std::byte(i < ids.size() ? ids[i] : 0);
}

void write_length(const SyntheticRow& r, std::string_view of, const std::vector<uint8_t>& ids, std::byte* to) {
  const int64_t length = row_length(r.request, of), size = std::ssize(ids);
  const auto n = static_cast<int32_t>(length > 0 ? std::min(size, length) : size);
  std::memcpy(to, &n, sizeof n);
}

}  // namespace

DrawnVocabulary::DrawnVocabulary(std::vector<std::string> named, std::vector<std::string> tokens, bool words)
    : named_(std::move(named)), tokens_(std::move(tokens)), words_(words) {
  HEDDLE_CHECK(named_.size() + tokens_.size() <= 256, "ids are bytes");
  for (const auto* list : {&named_, &tokens_})
    for (const std::string& token : *list)
      HEDDLE_CHECK(ids_.emplace(token, static_cast<uint8_t>(ids_.size())).second, "two tokens are '" + token + "'");
}

DrawnVocabulary DrawnVocabulary::of_characters(std::vector<std::string> named, std::string_view characters) {
  std::vector<std::string> tokens;
  for (const char c : characters) tokens.emplace_back(1, c);
  return {std::move(named), std::move(tokens), /*words=*/false};
}

DrawnVocabulary DrawnVocabulary::of_words(std::vector<std::string> named, const std::vector<std::string>& words) {
  return {std::move(named), words, /*words=*/true};
}

std::vector<uint8_t> DrawnVocabulary::encode(std::string_view text) const {
  std::vector<uint8_t> ids;
  for (size_t at = 0; at < text.size();) {
    const size_t end = words_ ? std::min(text.find(' ', at), text.size()) : at + 1;
    ids.push_back(id(text.substr(at, end - at)));
    at = words_ ? end + 1 : end;
  }
  return ids;
}

uint8_t DrawnVocabulary::id(std::string_view token) const {
  const auto found = ids_.find(token);
  HEDDLE_CHECK(found != ids_.end(), fmt::format("'{}' is no drawn token", token));
  return found->second;
}

std::string DrawnVocabulary::tokenizer() const {
  return words_ ? text::word_tokenizer(named_, tokens_) : text::character_tokenizer(named_, tokens_, "");
}

int64_t row_length(const ReaderRequest& request, std::string_view source) {
  for (const ColumnRequest& c : request.columns)
    if (c.source() == source) return c.dims.at(0);
  return 0;
}

void require_text_row(const ReaderRequest& request, const ColumnRequest& c) {
  if (c.dims.size() != 1 || c.dims[0] < 1 || c.dims[0] > kMostLength)
    throw UserError(c.where, fmt::format("\"{}\" of synthetic {} is a row [length] of 1 to {} tokens, input '{}' has "
                                         "another size",
                                         c.source(), request.text("kind"), kMostLength, c.input));
}

SyntheticColumn text_column(const std::string& source, VocabularyOf vocabulary, const DrawText& draw) {
  return {.source = source,
          .check = require_text_row,
          .draw = [=](const SyntheticRow& r, std::byte* to) { write_ids(r, vocabulary().encode(draw(r)), to); },
          .tokenizer = [=] { return vocabulary().tokenizer(); }};
}

SyntheticColumn length_column(const std::string& source, const std::string& of, VocabularyOf vocabulary,
                              const DrawText& draw) {
  return {.source = source,
          .type = ElementType::i32,
          .check = require_number,
          .draw = [=](const SyntheticRow& r, std::byte* to) { write_length(r, of, vocabulary().encode(draw(r)), to); }};
}

std::vector<SyntheticColumn> pair_columns(const DrawnSide& source, const DrawnSide& target) {
  const auto ids = [=](const SyntheticRow& r) { return behind_begin(target.vocabulary(), target.draw(r)); };
  const auto tokenizer = [=] { return target.vocabulary().tokenizer(); };
  const auto write_next = [=](const SyntheticRow& r, std::byte* to) {
    std::vector<uint8_t> next = ids(r);
    next.erase(next.begin());
    next.push_back(target.vocabulary().id("<end>"));
    for (size_t i = 0; i < static_cast<size_t>(r.column.dims[0]); ++i, to += sizeof(int32_t)) {
      const auto id = static_cast<int32_t>(i < next.size() ? next[i] : kIgnoreIndex);
      std::memcpy(to, &id, sizeof id);
    }
  };
  const auto write_size = [=](const SyntheticRow& r, std::byte* to) {
    const bool target_there = row_length(r.request, "target") > 0;
    write_length(r, target_there ? "target" : "next", ids(r), to);
  };
  return {text_column("source", source.vocabulary, source.draw),
          {.source = "target",
           .check = require_text_row,
           .draw = [=](const SyntheticRow& r, std::byte* to) { write_ids(r, ids(r), to); },
           .tokenizer = tokenizer},
          {.source = "next",
           .type = ElementType::i32,
           .check = require_text_row,
           .draw = write_next,
           .tokenizer = tokenizer},
          length_column("source_length", "source", source.vocabulary, source.draw),
          {.source = "target_length", .type = ElementType::i32, .check = require_number, .draw = write_size}};
}

}  // namespace heddle::runtime::data
