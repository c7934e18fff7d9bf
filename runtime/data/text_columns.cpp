#include "runtime/data/text_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/check.h"
#include "runtime/data/printable.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::data {
TextColumns::TextColumns(const ReaderRequest& request, TextSettings settings, std::vector<std::string> words,
                         std::vector<std::string> sources)
    : request_(request),
      settings_(std::move(settings)),
      words_(std::move(words)),
      sources_(std::move(sources)),
      shapes_(words_.size()),
      known_(request.columns) {
  HEDDLE_CHECK(words_.size() == request.columns.size() && sources_.size() == words_.size(), "a word for each column");
  settings_.lengths = std::ranges::count(words_, "length") > 0;
  require_text(settings_, any(), std::ranges::count(words_, "tokens") > 0);
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i].empty() || is_text(i)) continue;
    if (!is_size(i))
      throw UserError(request.columns[i].where,
                      fmt::format("a text is read as \"characters\", \"bytes\" or \"tokens\", or for its \"length\", "
                                  "not as \"{}\"",
                                  printable(words_[i])));
    bool of_text = false;
    for (size_t k = 0; k < words_.size(); ++k) of_text = of_text || (is_text(k) && sources_[k] == sources_[i]);
    if (!of_text)
      throw UserError(request.columns[i].where, "a length is that of an input of text, and the reader feeds none of it",
                      "give another input \"characters\", \"bytes\" or \"tokens\"");
  }
}

bool TextColumns::any() const {
  return std::ranges::any_of(words_, [](const std::string& word) { return !word.empty(); });
}

void TextColumns::collect(size_t column, std::string_view text, int64_t row) {
  if (words_[column] != "characters" || !request_.columns[column].tokenizer.empty()) return;
  Found& found = found_[sources_[column]];
  const bool trains = request_.held == nullptr || request_.held->at(static_cast<size_t>(row)) == 0;
  for (size_t at = 0; at < text.size();) {
    const uint32_t code = text::next_code(text, at);
    if (trains) {
      found.characters.insert(code);
    } else {
      found.held.emplace(code, row);
    }
  }
}

void TextColumns::finish(TableHeader& header, const std::filesystem::path& root) {
  std::set<int64_t> strange(header.strange.begin(), header.strange.end());
  for (const auto& [source, found] : found_)
    for (const auto& [code, row] : found.held)
      if (!found.characters.contains(code) && settings_.unknown.empty()) strange.insert(row);
  header.strange.assign(strange.begin(), strange.end());
  header.tokenizers.resize(words_.size());
  for (size_t i = 0; i < words_.size(); ++i) {
    if (is_size(i)) header.types[i] = ElementType::i32;
    if (!is_text(i)) continue;
    std::string& tokenizer = header.tokenizers[i] = request_.columns[i].tokenizer;
    const TextUnit unit = *text_unit(words_[i]);
    if (tokenizer.empty() && unit == TextUnit::characters) {
      tokenizer = tokenizer_of(settings_, found_[sources_[i]].characters);
      header.tokens_found = true;
    } else if (tokenizer.empty()) {
      tokenizer = tokenizer_of(settings_, unit, root, request_.columns[i].where);
    }
  }
  open(header.tokenizers);
  for (size_t i = 0; i < words_.size(); ++i)
    if (is_text(i)) header.types[i] = rows_[i]->coder().stored(shapes_[i].targets);
}

void TextColumns::open(const std::vector<std::string>& tokenizers) {
  rows_.clear();
  for (size_t i = 0; i < words_.size(); ++i) {
    rows_.push_back(nullptr);
    if (!is_text(i)) continue;
    known_[i].tokenizer = tokenizers[i];
    rows_.back() = std::make_unique<TextRows>(known_[i], *text_unit(words_[i]), settings_, shapes_[i]);
  }
}

void TextColumns::encode(size_t column, std::string_view text, const TextCoder::Fail& fail) {
  rows_[column]->encode(text, fail);
}

void TextColumns::store(size_t column, ElementType type, std::byte* to) const {
  if (is_text(column)) return rows_[column]->store_ids(type, to);
  for (size_t i = 0; i < words_.size(); ++i)
    if (is_text(i) && sources_[i] == sources_[column]) return rows_[i]->store_size(type, to);
}

std::vector<std::string> TextColumns::notes() const {
  std::vector<std::string> notes;
  for (const auto& rows : rows_)
    if (rows != nullptr && !rows->note().empty()) notes.push_back(rows->note());
  return notes;
}

std::vector<std::string> text_words(const ReaderRequest& request) {
  std::vector<std::string> words(request.columns.size());
  const ReaderSetting* setting = request.find("text");
  if (setting == nullptr) return words;
  const auto& all = std::get<ClassNames>(setting->value);
  const ReaderSetting* classes = request.find("classes");
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& input = request.columns[i].input;
    const auto word = all.find(input);
    if (word == all.end()) continue;
    if (classes != nullptr && std::get<ClassNames>(classes->value).contains(input))
      throw UserError(classes->where,
                      fmt::format("input '{}' is text, and its values are names of classes, too", input),
                      "take it out of \"classes\" or out of \"text\"");
    words[i] = word->second.at(0);
  }
  return words;
}

Key text_words_key() {
  return {.name = "text",
          .type = KeyType::text,
          .count = Count::by_name,
          .doc = "for inputs whose columns hold text",
          .words = {"characters", "bytes", "tokens", "length"}};
}

}  // namespace heddle::runtime::data
