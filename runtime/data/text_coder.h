// Text as elements of rows: ids of its tokens, and how many there are.
//
//   {"op": "text_folder", ..., "name": "characters", "size": "length", "end": "<end>"}
//     -> TextCoder of the characters of the training rows: "Ho" -> name {0, 7, 31, pad...}, size 3
//
// All units of text are one tokenizer.json, made of the rows or read from a file. It travels in the weights, so that
// a prediction has the same ids.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/table.h"

namespace heddle::runtime::text {
struct Tokenizer;
class Encoder;
}  // namespace heddle::runtime::text

namespace heddle::runtime::data {

enum class TextUnit { characters, bytes, tokens };
// What an input's word says; nothing where it names no unit.
std::optional<TextUnit> text_unit(std::string_view word);

// What a reader says of all its texts: names of tokens, "" for none.
struct TextSettings {
  std::string tokenizer;  // path of a tokenizer.json
  std::string padding, unknown, begin, end, mask;
  Location where_tokenizer, where_padding, where_unknown, where_begin, where_end, where_mask;
  bool lengths = false;  // an input holds how many tokens there are
};
TextSettings text_settings(const ReaderRequest& request);
// The keys that it reads: tokenizer, padding, unknown, begin, end, mask_token.
const std::vector<Key>& text_keys();

// Throws UserError at a setting that says nothing: a token where no input is text, a tokenizer where none is of tokens.
void require_text(const TextSettings& settings, bool text, bool tokens);

// A tokenizer.json of these characters, behind the named tokens.
std::string tokenizer_of(const TextSettings& settings, const std::set<uint32_t>& characters);
// That of bytes, or the one in the file that the settings name. UserError where there is none.
std::string tokenizer_of(const TextSettings& settings, TextUnit unit, const std::filesystem::path& root,
                         const Location& where);

class TextCoder {
 public:
  // `tokenizer` is a tokenizer.json. Throws UserError where it lacks a named token.
  TextCoder(std::string tokenizer, TextUnit unit, const TextSettings& settings);
  ~TextCoder();
  TextCoder(const TextCoder&) = delete;
  TextCoder& operator=(const TextCoder&) = delete;

  int64_t size() const;                                 // one more than the last id
  ElementType stored(bool with_ignored = false) const;  // the smallest that holds all ids, and -100
  std::optional<uint32_t> begin() const { return begin_; }
  std::optional<uint32_t> end() const { return end_; }
  std::optional<uint32_t> padding() const { return padding_; }
  // Tells of a fault at a byte of the text; does not return.
  using Fail = std::function<void(size_t offset, const std::string& message, const std::string& help)>;
  // Appends the ids of a text, without those of its begin and end.
  void encode(std::string_view text, std::vector<uint32_t>& ids, const Fail& fail) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  void number_characters();
  void encode_characters(std::string_view text, std::vector<uint32_t>& ids, const Fail& fail) const;

  SourceFile file_;
  TextUnit unit_;
  std::vector<uint32_t> characters_;  // ids by code point
  uint32_t first_byte_ = 0;           // the id of the byte 0
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<text::Encoder> encoder_;
  std::optional<uint32_t> padding_, unknown_, begin_, end_;
};

// Why the input cannot take the ids, as a message; throws it at the column's place.
void require_places(const TextCoder& coder, const ColumnRequest& column);

// A text's ids as a row of `length` elements: cut at the end, where it keeps `end`, or filled up with `padding`.
struct TextRow {
  std::vector<uint32_t> ids;  // with begin and end
  int64_t size = 0;           // of those that the row holds
  bool cut = false;
};
// How a text is laid out: with the tokens of its begin and end, where they are named, or as targets, which are -100
// where there is no text.
struct TextShape {
  bool begin = true, end = true, targets = false;
};
class TextRows {
 public:
  // `column` is that of the ids; it and `settings` outlive this.
  TextRows(const ColumnRequest& column, TextUnit unit, const TextSettings& settings, TextShape shape = {});
  const TextCoder& coder() const { return coder_; }
  int64_t length() const { return length_; }
  // The row stays until the next one.
  const TextRow& encode(std::string_view text, const TextCoder::Fail& fail);
  // Of the row that was encoded last, as elements of the type.
  void store_ids(ElementType type, std::byte* to) const;
  void store_size(ElementType type, std::byte* to) const;
  // What is to be told of the rows so far; "" for nothing.
  std::string note() const;

 private:
  const ColumnRequest& column_;
  const TextSettings& settings_;
  TextCoder coder_;
  std::optional<uint32_t> begin_, end_;
  TextShape shape_;
  int64_t length_ = 0, rows_ = 0, cut_ = 0;
  TextRow row_;
};

void store_integer(ElementType type, int64_t value, std::byte* to);
int64_t elements_of(const std::vector<int64_t>& dims);

// Rows of text take no more room than files may hold. Throws UserError.
void require_text_room(const ReaderRequest& request, int64_t rows);

}  // namespace heddle::runtime::data
