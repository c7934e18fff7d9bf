// TextCoder, TextRows: turn text into rows of token ids, and count the tokens.
//
//   {"op": "text_folder", ..., "name": "characters", "size": "length", "end": "<end>"}
//     -> TextCoder of the characters of the training rows: "Ho" -> name {0, 7, 31, pad...}, size 3
//
// Every unit of text has a tokenizer.json, which is made from the rows or read from a file. It is saved with the
// weights, so that a prediction uses the same ids.
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
// The unit that an input's word names; nothing where it names none.
std::optional<TextUnit> text_unit(std::string_view word);

// A reader's settings for all its texts: names of special tokens; "" for none.
struct TextSettings {
  std::string tokenizer;  // path of a tokenizer.json
  std::string padding, unknown, begin, end, mask;
  Location where_tokenizer, where_padding, where_unknown, where_begin, where_end, where_mask;
  bool lengths = false;  // an input holds the number of tokens
};
TextSettings text_settings(const ReaderRequest& request);
// The keys of TextSettings: tokenizer, padding, unknown, begin, end, mask_token.
const std::vector<Key>& text_keys();

// Throws UserError at a setting that has no use: a token name where no input is text, a tokenizer where no input takes
// "tokens".
void require_text(const TextSettings& settings, bool text, bool tokens);

// Makes a tokenizer.json of these characters. Named tokens have the first ids.
std::string tokenizer_of(const TextSettings& settings, const std::set<uint32_t>& characters);
// The tokenizer.json of bytes, or that of the file that the settings name. Throws UserError where there is none.
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
  ElementType stored(bool with_ignored = false) const;  // the smallest type for all ids; with_ignored: and for -100
  std::optional<uint32_t> begin() const { return begin_; }
  std::optional<uint32_t> end() const { return end_; }
  std::optional<uint32_t> padding() const { return padding_; }
  // Throws an error about the byte `offset` of the text.
  using Fail = std::function<void(size_t offset, const std::string& message, const std::string& help)>;
  // Appends the ids of a text, without begin and end tokens.
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

// Throws UserError at the column's location where the input has fewer classes than there are ids.
void require_places(const TextCoder& coder, const ColumnRequest& column);

// A text's ids as a row. A longer text is cut and keeps its end token; a shorter one is padded when it is stored.
struct TextRow {
  std::vector<uint32_t> ids;  // with begin and end tokens
  int64_t size = 0;           // number of ids in the row
  bool cut = false;
};
// The layout of a text's row. `begin`, `end`: with the begin and end tokens, where these are named. `targets`: padded
// with -100.
struct TextShape {
  bool begin = true, end = true, targets = false;
};
class TextRows {
 public:
  // `column` is the column of ids. `column` and `settings` must outlive this.
  TextRows(const ColumnRequest& column, TextUnit unit, const TextSettings& settings, TextShape shape = {});
  const TextCoder& coder() const { return coder_; }
  int64_t length() const { return length_; }
  // Encodes a text. The row stays valid until the next call.
  const TextRow& encode(std::string_view text, const TextCoder::Fail& fail);
  // Write the row that was encoded last: its ids, or their number, as elements of the type.
  void store_ids(ElementType type, std::byte* to) const;
  void store_size(ElementType type, std::byte* to) const;
  // A note for the user about the rows so far, or "".
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

// Throws UserError where rows of text would have more elements than Heddle allows.
void require_text_room(const ReaderRequest& request, int64_t rows);

}  // namespace heddle::runtime::data
