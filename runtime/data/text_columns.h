// TextColumns: a reader's columns that are made of text. It collects their vocabularies from the rows, where these are
// not known, and encodes the rows.
//
//   TextColumns texts(request, settings, {"characters", "length", ""}, {"surname", "surname", "language"});
//   texts.collect(0, "Satoshi", row);  texts.finish(header, root);   // while rows are counted
//   texts.open(header.tokenizers);  texts.encode(0, "Satoshi", fail);  texts.store(0, type, to);  // while they are read
//
// Columns with the same source have the same text in a row, and share a vocabulary.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/data/text_coder.h"

namespace heddle::runtime::data {

class TextColumns {
 public:
  // A word for each of the request's columns: a unit or "length"; "" for a column that is not text. Throws UserError at
  // another word.
  TextColumns(const ReaderRequest& request, TextSettings settings, std::vector<std::string> words,
              std::vector<std::string> sources);
  bool any() const;
  bool is_text(size_t column) const { return text_unit(words_[column]).has_value(); }
  bool is_size(size_t column) const { return words_[column] == "length"; }

  void collect(size_t column, std::string_view text, int64_t row);
  // Sets the header's tokenizers, types and `strange` rows. header.types must already have an entry for each column.
  void finish(TableHeader& header, const std::filesystem::path& root);

  void open(const std::vector<std::string>& tokenizers);
  void encode(size_t column, std::string_view text, const TextCoder::Fail& fail);
  // Writes the ids of the column's text. For "length", writes the number of ids of the first text column with the same
  // source.
  void store(size_t column, ElementType type, std::byte* to) const;
  std::vector<std::string> notes() const;

  // The layout of a column's texts; the default has begin and end tokens.
  TextShape& shape(size_t column) { return shapes_[column]; }

 private:
  struct Found {
    std::set<uint32_t> characters;          // in training rows
    std::map<uint32_t, int64_t> held = {};  // in other rows: the first row that has the character
  };

  const ReaderRequest& request_;
  TextSettings settings_;
  std::vector<std::string> words_, sources_;
  std::vector<TextShape> shapes_;
  std::map<std::string, Found, std::less<>> found_;  // by source
  std::vector<ColumnRequest> known_;                 // the request's, with their tokenizers
  std::vector<std::unique_ptr<TextRows>> rows_;
};

// The word that the setting "text" of a reader gives each of its columns: {"name": "characters"}.
std::vector<std::string> text_words(const ReaderRequest& request);
Key text_words_key();

}  // namespace heddle::runtime::data
