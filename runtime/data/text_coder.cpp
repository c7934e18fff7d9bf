#include "runtime/data/text_coder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/text_file.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/train.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::data {
namespace {

constexpr const char* kUnknownHelp =
    "\"unknown\": \"<unk>\" gives all that the training rows lack one token; else let a training row have it";

// What the settings name, in the order in which the tokens are numbered.
struct NamedToken {
  const char* key;
  std::string name;
  Location where;
};
std::vector<NamedToken> named_by(const TextSettings& s) {
  std::vector<NamedToken> named = {{"padding", s.padding, s.where_padding},
                                   {"unknown", s.unknown, s.where_unknown},
                                   {"begin", s.begin, s.where_begin},
                                   {"end", s.end, s.where_end},
                                   {"mask_token", s.mask, s.where_mask}};
  std::erase_if(named, [](const NamedToken& token) { return token.name.empty(); });
  return named;
}

std::vector<std::string> named_tokens(const TextSettings& s) {
  std::vector<std::string> names;
  for (const auto& [key, name, where] : named_by(s)) {
    if (std::ranges::count(names, name) > 0)
      throw UserError(where, fmt::format("two of the named tokens are '{}'", printable(name)),
                      "each has a name of its own");
    names.push_back(name);
  }
  return names;
}

const char* example_of(std::string_view key) {
  return key == "begin"        ? R"("<s>")"
         : key == "end"        ? R"("</s>")"
         : key == "unknown"    ? R"("<unk>")"
         : key == "mask_token" ? R"("<mask>")"
                               : R"("<pad>")";
}

std::string setting_text(const ReaderRequest& request, const char* key, Location& where) {
  const ReaderSetting* setting = request.find(key);
  if (setting == nullptr) return {};
  where = setting->where;
  std::string text = request.text(key);
  if (text.empty())
    throw UserError(where, fmt::format("'{}' is the name of a token, and empty", key),
                    fmt::format("for example \"{}\": {}", key, example_of(key)));
  return text;
}

}  // namespace

std::optional<TextUnit> text_unit(std::string_view word) {
  if (word == "characters") return TextUnit::characters;
  if (word == "bytes") return TextUnit::bytes;
  if (word == "tokens") return TextUnit::tokens;
  return std::nullopt;
}

const std::vector<Key>& text_keys() {
  static const std::vector<Key> keys = {
      {.name = "tokenizer", .type = KeyType::path, .doc = "a tokenizer.json, for inputs of \"tokens\""},
      {.name = "padding", .type = KeyType::text, .doc = "the token that fills up rows, such as \"<pad>\""},
      {.name = "unknown", .type = KeyType::text, .doc = "the token of characters that no training row has"},
      {.name = "begin", .type = KeyType::text, .doc = "a token before each text"},
      {.name = "end", .type = KeyType::text, .doc = "a token behind each text"},
      {.name = "mask_token", .type = KeyType::text, .doc = "the token that mask_tokens writes, such as \"<mask>\""}};
  return keys;
}

TextSettings text_settings(const ReaderRequest& request) {
  TextSettings s;
  if (const ReaderSetting* tokenizer = request.find("tokenizer")) {
    s.tokenizer = request.text("tokenizer");
    s.where_tokenizer = tokenizer->where;
  }
  s.padding = setting_text(request, "padding", s.where_padding);
  s.unknown = setting_text(request, "unknown", s.where_unknown);
  s.begin = setting_text(request, "begin", s.where_begin);
  s.end = setting_text(request, "end", s.where_end);
  s.mask = setting_text(request, "mask_token", s.where_mask);
  return s;
}

void require_text(const TextSettings& settings, bool text, bool tokens) {
  if (!text && !named_by(settings).empty()) {
    const NamedToken first = named_by(settings).front();
    throw UserError(first.where, fmt::format("'{}' is a token of text, and no input is made of text", first.key),
                    "leave it out; \"text\": {\"INPUT\": \"characters\"} makes text of a column");
  }
  if (!tokens && !settings.tokenizer.empty())
    throw UserError(settings.where_tokenizer, "'tokenizer' is for \"tokens\", and no input is made of them",
                    "leave it out, or ask for \"tokens\"");
}

std::string tokenizer_of(const TextSettings& settings, const std::set<uint32_t>& characters) {
  std::vector<std::string> tokens;
  for (const uint32_t code : characters) text::append_code(tokens.emplace_back(), code);
  const std::vector<std::string> names = named_tokens(settings);
  for (const auto& [key, name, where] : named_by(settings))
    if (std::ranges::count(tokens, name) > 0)
      throw UserError(where, fmt::format("the named token '{}' is a character of the text, too", printable(name)),
                      fmt::format("give it a longer name: {}", example_of(key)));
  return text::character_tokenizer(names, tokens, settings.unknown);
}

std::string tokenizer_of(const TextSettings& settings, TextUnit unit, const std::filesystem::path& root,
                         const Location& where) {
  if (!settings.unknown.empty() && unit != TextUnit::characters)
    throw UserError(settings.where_unknown,
                    unit == TextUnit::bytes ? "'unknown' is of \"characters\": each byte has a token"
                                            : "'unknown' is of \"characters\": the tokenizer says what is unknown",
                    "leave it out");
  if (unit == TextUnit::bytes) return text::byte_tokenizer(named_tokens(settings));
  if (settings.tokenizer.empty())
    throw UserError(where, "\"tokens\" are those of a tokenizer, and the reader names none",
                    "add \"tokenizer\": \"tokenizer.json\", or ask for \"characters\" or \"bytes\"");
  const TextFile file(root, settings.tokenizer, settings.where_tokenizer);
  SourceFile source{settings.tokenizer, std::string(file.text())};
  try {
    text::read_tokenizer_json(source);
  } catch (const UserError& error) {
    rethrow_with_place(error, settings.where_tokenizer);
  }
  return std::move(source.text);
}

TextCoder::TextCoder(std::string tokenizer, TextUnit unit, const TextSettings& settings)
    : file_{"tokenizer.json", std::move(tokenizer)},
      unit_(unit),
      tokenizer_(std::make_unique<text::Tokenizer>(text::read_tokenizer_json(file_))),
      encoder_(std::make_unique<text::Encoder>(*tokenizer_)) {
  const auto find = [&](const std::string& name, const Location& where, std::optional<uint32_t>& id) {
    if (name.empty()) return;
    id = tokenizer_->find(name);
    if (!id)
      throw UserError(where, fmt::format("the tokenizer has no token '{}'", printable(name)),
                      "name one of its tokens, or train one with --special-token");
  };
  if (unit == TextUnit::tokens) padding_ = tokenizer_->named.padding;
  find(settings.padding, settings.where_padding, padding_);
  if (unit == TextUnit::characters) find(settings.unknown, settings.where_unknown, unknown_);
  find(settings.begin, settings.where_begin, begin_);
  find(settings.end, settings.where_end, end_);
  std::optional<uint32_t> mask;
  find(settings.mask, settings.where_mask, mask);
  if (unit == TextUnit::characters) number_characters();
  first_byte_ = unit == TextUnit::bytes ? tokenizer_->size() - 256 : 0;
}

TextCoder::~TextCoder() = default;

int64_t TextCoder::size() const { return tokenizer_->size(); }

ElementType TextCoder::stored(bool with_ignored) const {
  if (size() <= 256 && !with_ignored) return ElementType::u8;
  return size() <= 32768 ? ElementType::i16 : ElementType::i32;
}

void TextCoder::encode(std::string_view text, std::vector<uint32_t>& ids, const Fail& fail) const {
  switch (unit_) {
    case TextUnit::characters: return encode_characters(text, ids, fail);
    case TextUnit::bytes:
      for (const char c : text) ids.push_back(first_byte_ + static_cast<unsigned char>(c));
      return;
    case TextUnit::tokens: break;
  }
  if (encoder_->encode(text, {}, ids)) return;
  // Encodes the text again as a file, to find the place of the error.
  const SourceFile alone{"", std::string(text)};
  try {
    std::vector<uint32_t> scratch;
    encoder_->encode(alone, {0, static_cast<uint32_t>(text.size())}, {}, scratch);
  } catch (const UserError& error) {
    const Diagnostic& fault = error.diagnostics().front();
    fail(fault.where.begin, fault.message, fault.help);
  }
}

void TextCoder::encode_characters(std::string_view text, std::vector<uint32_t>& ids, const Fail& fail) const {
  for (size_t at = 0; at < text.size();) {
    const size_t first = at;
    const uint32_t code = text::next_code(text, at);
    if (code < characters_.size() && characters_[code] != kNone) {
      ids.push_back(characters_[code]);
    } else if (unknown_) {
      ids.push_back(*unknown_);
    } else {
      fail(first,
           fmt::format("'{}' (U+{:04X}) is in no training row, and nothing is said of what is unknown",
                       printable(text.substr(first, at - first)), code),
           kUnknownHelp);
    }
  }
}

// Finds the tokens of one character. Named tokens have more.
void TextCoder::number_characters() {
  for (uint32_t id = 0; id < tokenizer_->size(); ++id) {
    const std::optional<std::string_view> token = tokenizer_->token(id);
    if (!token || token->empty()) continue;
    size_t end = 0;
    const uint32_t code = text::next_code(*token, end);
    if (end != token->size()) continue;
    if (code >= characters_.size()) characters_.resize(code + 1, kNone);
    characters_[code] = id;
  }
}

void require_places(const TextCoder& coder, const ColumnRequest& column) {
  if (column.classes == 0 || coder.size() <= column.classes) return;
  throw UserError(column.where,
                  fmt::format("the text of input '{}' has {} tokens, the named ones among them; the input takes {}",
                              column.input, coder.size(), column.classes),
                  fmt::format("\"vocab\": {} has room for all", coder.size()), column.bounded_by);
}

TextRows::TextRows(const ColumnRequest& column, TextUnit unit, const TextSettings& settings, TextShape shape)
    : column_(column),
      settings_(settings),
      coder_(column.tokenizer, unit, settings),
      begin_(shape.begin ? coder_.begin() : std::nullopt),
      end_(shape.end ? coder_.end() : std::nullopt),
      shape_(shape),
      length_(elements_of(column.dims)) {
  if (column.dims.size() != 1)
    throw UserError(
        column.where,
        fmt::format("input '{}' has rows of {} axes: a text is one, of its tokens", column.input, column.dims.size()),
        "\"shape\": [\"N\", LENGTH]");
  require_places(coder_, column);
  const int64_t named = (begin_ ? 1 : 0) + (end_ ? 1 : 0);
  if (length_ <= named)
    throw UserError(
        column.where,
        fmt::format("input '{}' takes {} tokens, and begin and end are {} of them", column.input, length_, named),
        "make its rows longer");
}

const TextRow& TextRows::encode(std::string_view text, const TextCoder::Fail& fail) {
  row_.ids.clear();
  if (begin_) row_.ids.push_back(*begin_);
  coder_.encode(text, row_.ids, fail);
  if (end_) row_.ids.push_back(*end_);
  row_.cut = std::ssize(row_.ids) > length_;
  if (row_.cut) {
    row_.ids.resize(static_cast<size_t>(length_));
    if (end_ && !shape_.targets) row_.ids.back() = *end_;
    ++cut_;
  }
  ++rows_;
  row_.size = std::ssize(row_.ids);
  if (row_.size < length_ && !coder_.padding() && !settings_.lengths && !shape_.targets)
    fail(0,
         fmt::format("{} {}, and a row of input '{}' has {}: nothing tells what fills it up from text", row_.size,
                     row_.size == 1 ? "token" : "tokens", column_.input, length_),
         "add \"padding\": \"<pad>\", a token of its own, or an input that holds \"length\"");
  return row_;
}

void store_integer(ElementType type, int64_t value, std::byte* to) {
  visit(type, [&](auto element) {
    element = static_cast<decltype(element)>(value);
    std::memcpy(to, &element, sizeof element);
  });
}

void TextRows::store_ids(ElementType type, std::byte* to) const {
  const int64_t width = size_of(type), filler = shape_.targets ? kIgnoreIndex : coder_.padding().value_or(0);
  for (int64_t i = 0; i < length_; ++i, to += width)
    store_integer(type, i < row_.size ? row_.ids[static_cast<size_t>(i)] : filler, to);
}

void TextRows::store_size(ElementType type, std::byte* to) const { store_integer(type, row_.size, to); }

std::string TextRows::note() const {
  if (cut_ == 0) return {};
  return fmt::format("{} of {} texts are longer than the {} tokens of input '{}', which holds their beginning", cut_,
                     rows_, length_, column_.input);
}

int64_t elements_of(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

void require_text_room(const ReaderRequest& request, int64_t rows) {
  constexpr int64_t kMost = int64_t{1} << 43;  // elements, of up to 4 bytes
  for (const ColumnRequest& column : request.columns) {
    int64_t elements = 0;
    if (__builtin_mul_overflow(rows, elements_of(column.dims), &elements) || elements > kMost)
      throw UserError(column.where,
                      fmt::format("{} rows of {} elements are more than {}", rows, elements_of(column.dims), kMost),
                      "make the rows of the input shorter");
  }
}

}  // namespace heddle::runtime::data
