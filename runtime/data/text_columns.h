// The columns of a reader that are made of text: their vocabularies, found among the rows or known, and their elements.
//
//   TextColumns texts(request, settings, {"characters", "length", ""}, {"surname", "surname", "language"});
//   texts.collect(0, "Satoshi", row);  texts.finish(header, root);   // while rows are counted
//   texts.open(header.tokenizers);  texts.encode(0, "Satoshi", fail);  texts.store(0, type, to);  // while they are read
//
// Columns of one source have one text in a row, and one vocabulary.
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
  // A word for each of the request's columns: a unit or "length", "" for what is not text. Throws UserError at another.
  TextColumns(const ReaderRequest& request, TextSettings settings, std::vector<std::string> words,
              std::vector<std::string> sources);
  bool any() const;
  bool is_text(size_t column) const { return text_unit(words_[column]).has_value(); }
  bool is_size(size_t column) const { return words_[column] == "length"; }

  void collect(size_t column, std::string_view text, int64_t row);
  // Sets tokenizers, types and strange rows of the header, whose lists have an entry for each column already.
  void finish(TableHeader& header, const std::filesystem::path& root);

  void open(const std::vector<std::string>& tokenizers);
  void encode(size_t column, std::string_view text, const TextCoder::Fail& fail);
  // The text's ids; of a length, those of the first column with its source that was encoded in this row.
  void store(size_t column, ElementType type, std::byte* to) const;
  std::vector<std::string> notes() const;

  // How texts of a column are laid out, where it is not as a whole.
  TextShape& shape(size_t column) { return shapes_[column]; }

 private:
  struct Found {
    std::set<uint32_t> characters;          // of rows that train
    std::map<uint32_t, int64_t> held = {};  // of the others, and the first of these
  };

  const ReaderRequest& request_;
  TextSettings settings_;
  std::vector<std::string> words_, sources_;
  std::vector<TextShape> shapes_;
  std::map<std::string, Found, std::less<>> found_;  // by source
  std::vector<ColumnRequest> known_;                 // the request's, with their tokenizers
  std::vector<std::unique_ptr<TextRows>> rows_;
};

// What the setting "text" of a reader says of each of its columns: {"name": "characters"}.
std::vector<std::string> text_words(const ReaderRequest& request);
Key text_words_key();

}  // namespace heddle::runtime::data
