// The reader `tokens`: windows over a text, for models that predict the next token.
//
//   {"op": "tokens", "file": "input.txt", "window": 4, "tokens": "window", "targets": "next"} over "hello world"
//     -> rows "hell" -> "ello", "o wo" -> " wor"
//
// The tokens of all documents stand in one stream. Where a window begins where the one before it ends, that stream is
// the column: each token is stored once. Windows that overlap are copied, since a step finds a row by its number times
// its length, and the first element of a column is aligned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/data/input_file.h"
#include "runtime/data/path.h"
#include "runtime/data/printable.h"
#include "runtime/data/text_coder.h"
#include "runtime/data/text_file.h"
#include "runtime/text/unicode.h"

namespace heddle::runtime::data {
namespace {

namespace fs = std::filesystem;

// Rows of tokens, the first of which is token `begin` of the stream.
struct Windows {
  int64_t begin = 0, length = 0, stride = 0, rows = 0;
  int64_t strands = 0;  // > 0: the text in so many parts; row t * strands + n is window t of part n
  bool side_by_side() const { return stride == length; }
  int64_t tokens() const { return (rows - 1) * stride + length; }  // that they cover
  // Where a window of the stream stands among the rows, and a token of windows side by side among their elements.
  int64_t row(int64_t window) const {
    return strands == 0 ? window : window % (rows / strands) * strands + window / (rows / strands);
  }
  int64_t place(int64_t token) const { return strands == 0 ? token : row(token / length) * length + token % length; }
};

class TokenReader {
 public:
  TokenReader(const ReaderRequest& request, const fs::path& root)
      : request_(request), root_(root), where_(request.place("file")), settings_(text_settings(request)) {
    for (const std::string& pattern : request.texts("file"))
      for (std::string& name : matching(root, pattern, where_)) files_.push_back(std::move(name));
    const std::string unit = request.find("unit") != nullptr ? request.text("unit")
                             : settings_.tokenizer.empty()   ? "characters"
                                                             : "tokens";
    unit_ = *text_unit(unit);
    require_text(settings_, /*text=*/true, unit_ == TextUnit::tokens);
    lines_ = request.text("documents") == "lines";
    for (const ColumnRequest& column : request.columns) check_word(column);
  }

  TableHeader header() {
    TableHeader out;
    const std::string tokenizer = find_tokenizer(out);
    make_coder(tokenizer);
    out.rows = windows(count_tokens()).rows;
    require_text_room(request_, out.rows);
    for (const ColumnRequest& column : request_.columns) {
      out.types.push_back(type_of(column));
      out.tokenizers.push_back(is_text(column) ? tokenizer : "");
    }
    return out;
  }

  Table read() {
    TableHeader ignored;
    make_coder(find_tokenizer(ignored));
    const int64_t tokens = count_tokens();
    const Windows w = windows(tokens);
    Table table{.rows = w.rows, .columns = {}};
    const bool plain = std::ranges::all_of(request_.columns, is_text) && !parted();
    table.drawn_offsets = draws_offsets();
    if (plain && w.side_by_side()) {
      copy_stream(w, table);
    } else {
      copy_windows(w, table);
    }
    return table;
  }

 private:
  static bool is_text(const ColumnRequest& column) { return column.source() == "window" || column.source() == "next"; }
  bool asks(const char* word) const {
    return std::ranges::any_of(request_.columns, [&](const ColumnRequest& c) { return c.source() == word; });
  }
  // Whether documents are separated: the last token of a document then has no next token.
  bool parted() const { return asks("document") || asks("position"); }

  bool draws_offsets() const { return request_.text("offsets") == "drawn"; }

  // Throws at options that only adjacent windows can have.
  void check_layout(Windows& w) const {
    const ReaderSetting* strands = request_.find("strands");
    if (strands != nullptr) w.strands = request_.integer("strands");
    for (const char* key : {"strands", "offsets"}) {
      if (key == std::string_view("strands") ? strands == nullptr : !draws_offsets()) continue;
      if (!w.side_by_side())
        throw UserError(request_.place("stride"),
                        fmt::format("tokens: '{}' goes with windows side by side, not with a stride of {} in windows "
                                    "of {}",
                                    key, w.stride, w.length),
                        "leave 'stride' out");
    }
    if (!draws_offsets()) return;
    if (strands != nullptr)
      throw UserError(request_.place("offsets"), "tokens: a strand goes on where it stopped, at no drawn offset",
                      "leave out 'offsets' or 'strands'");
    for (const ColumnRequest& column : request_.columns)
      if (!is_text(column))
        throw UserError(
            column.where,
            fmt::format("tokens: the \"{}\" of each token is of windows that stay where they are", column.source()),
            "leave 'offsets' out");
  }

  static void check_word(const ColumnRequest& column) {
    const std::string& word = column.source();
    if (!is_text(column) && word != "document" && word != "position")
      throw UserError(column.where, fmt::format(R"(tokens are "window", "next", "document" or "position", not "{}")",
                                                printable(word)));
    if (column.dims.size() != 1)
      throw UserError(column.where,
                      fmt::format("input '{}' has rows of {} axes: a window is one, of its tokens", column.input,
                                  column.dims.size()),
                      "\"shape\": [\"N\", WINDOW]");
  }

  ElementType type_of(const ColumnRequest& column) const {
    if (!is_text(column)) return ElementType::i32;
    return coder_->stored(column.source() == "next" && parted());
  }

  // The tokenizer of the request's columns; else one made from all files as a whole, so that all splits have the same.
  std::string find_tokenizer(TableHeader& out) const {
    for (const ColumnRequest& column : request_.columns)
      if (is_text(column) && !column.tokenizer.empty()) return column.tokenizer;
    if (unit_ != TextUnit::characters) return tokenizer_of(settings_, unit_, root_, where_);
    out.tokens_found = true;
    std::set<uint32_t> characters;
    std::vector<bool> seen(0x110000);
    each_file([&](const TextFile& file) {
      const std::string_view text = file.text();
      for (size_t at = 0; at < text.size();) seen[text::next_code(text, at)] = true;
    });
    for (uint32_t code = 0; code < seen.size(); ++code)
      if (seen[code]) characters.insert(code);
    return tokenizer_of(settings_, characters);
  }

  void make_coder(const std::string& tokenizer) {
    coder_ = std::make_unique<TextCoder>(tokenizer, unit_, settings_);
    for (const ColumnRequest& column : request_.columns)
      if (is_text(column)) require_places(*coder_, column);
  }

  template <class F>
  void each_file(const F& f) const {
    for (const std::string& name : files_) f(TextFile(root_, name, where_));
  }

  // Pieces of documents, each with its ids, and whether it begins one. A tokenizer sees a document as a whole, since
  // it may join what stands at the ends of lines.
  template <class F>
  void each_piece(const F& f) const {
    std::vector<uint32_t> ids;
    each_file([&](const TextFile& file) {
      const std::string_view all = file.text();
      const bool whole = unit_ == TextUnit::tokens && !lines_;
      bool begins = true;
      const auto add = [&](size_t begin, size_t end, bool ends) {
        ids.clear();
        if (begins && coder_->begin()) ids.push_back(*coder_->begin());
        coder_->encode(all.substr(begin, end - begin), ids,
                       [&](size_t at, const std::string& what, const std::string& help) {
                         const LineColumn place = file.place(begin + at);
                         file.fail(place.line, place.column, what, help);
                       });
        if (ends && coder_->end()) ids.push_back(*coder_->end());
        f(ids, begins);
        begins = ends;
      };
      if (lines_) {
        file.each_line([&](const TextLine& line) {
          const auto begin = static_cast<size_t>(line.text.data() - all.data());
          add(begin, begin + line.text.size(), /*ends=*/true);
        });
        return;
      }
      for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        end = whole ? all.size() : std::min(all.find('\n', begin), all.size() - 1) + 1;
        add(begin, end, end == all.size());
      }
    });
  }

  int64_t count_tokens() const {
    int64_t tokens = 0;
    each_piece([&](const std::vector<uint32_t>& ids, bool) { tokens += std::ssize(ids); });
    return tokens;
  }

  Windows windows(int64_t tokens) const {
    constexpr double kRounding = 1e-6;  // 0.29 of 100 tokens are 29
    Windows w;
    int64_t end = tokens;
    if (const ReaderSetting* range = request_.find("range")) {
      const auto& part = std::get<std::vector<double>>(range->value);
      if (part.size() != 2 || part[0] >= part[1])
        throw UserError(range->where, "tokens: 'range' is [FROM, TO], shares of the text that grow", "[0, 0.9]");
      w.begin = static_cast<int64_t>(std::floor(static_cast<double>(tokens) * part[0] + kRounding));
      end = static_cast<int64_t>(std::floor(static_cast<double>(tokens) * part[1] + kRounding));
    }
    w.length = elements_of(request_.columns.at(0).dims);
    for (const ColumnRequest& column : request_.columns)
      if (elements_of(column.dims) != w.length)
        throw UserError(column.where, fmt::format("input '{}' takes windows of {} tokens, '{}' of {}", column.input,
                                                  elements_of(column.dims), request_.columns[0].input, w.length));
    if (request_.find("window") != nullptr && request_.integer("window") != w.length)
      throw UserError(request_.place("window"),
                      fmt::format("tokens: the window is {}, input '{}' takes {} tokens", request_.integer("window"),
                                  request_.columns[0].input, w.length));
    w.stride = request_.find("stride") != nullptr ? request_.integer("stride") : w.length;
    check_layout(w);
    const int64_t there = end - w.begin - (asks("next") ? 1 : 0);
    if (w.length == 0 || there < w.length)
      throw UserError(
          where_,
          fmt::format("{}: {} token{}{}, and a window needs {}", files_.size() == 1 ? files_[0] : "the files",
                      end - w.begin, end - w.begin == 1 ? "" : "s", w.begin > 0 || end < tokens ? " in the range" : "",
                      w.length + (asks("next") ? 1 : 0)),
          "each split needs one row or more: shorten the window, or take more text");
    w.rows = (there - w.length) / w.stride + 1;
    if (w.strands == 0) return w;
    if (w.rows < w.strands)
      throw UserError(request_.place("strands"),
                      fmt::format("tokens: {} windows are less than one for each of {} strands", w.rows, w.strands),
                      "take fewer strands, shorter windows, or more text");
    w.rows -= w.rows % w.strands;
    return w;
  }

  // Calls f for each token from the windows' first one to `last`, with its index from there, its id, its document, and
  // whether it begins the document.
  template <class F>
  void each_token(const Windows& w, int64_t last, const F& f) const {
    int64_t at = -w.begin, document = -1;
    each_piece([&](const std::vector<uint32_t>& ids, bool begins) {
      document += begins ? 1 : 0;
      for (size_t i = 0; i < ids.size(); ++i, ++at) {
        if (at > last) return;  // more than was there when they were counted
        if (at >= 0) f(at, ids[i], document, begins && i == 0);
      }
    });
    if (at < last) throw UserError(where_, "the text changed while it was read");
  }

  // A column is the stream itself, from its first token or the one behind it; in strands its windows lie in turn.
  void copy_stream(const Windows& w, Table& table) const {
    std::vector<std::byte*> to;
    for (const ColumnRequest& asked : request_.columns) {
      to.push_back(
          add_column(table, {.input = asked.input, .type = coder_->stored(), .dims = asked.dims}, request_.resident));
    }
    const int64_t tokens = w.tokens(), width = size_of(coder_->stored());
    each_token(w, tokens + (asks("next") ? 1 : 0), [&](int64_t at, uint32_t id, int64_t, bool) {
      for (size_t i = 0; i < to.size(); ++i) {
        const bool next = request_.columns[i].source() == "next";
        const int64_t token = next ? at - 1 : at;
        if (token >= 0 && token < tokens) store_integer(coder_->stored(), id, to[i] + w.place(token) * width);
      }
    });
  }

  void copy_windows(const Windows& w, Table& table) const {
    std::vector<std::byte*> to;
    for (const ColumnRequest& asked : request_.columns)
      to.push_back(
          add_column(table, {.input = asked.input, .type = type_of(asked), .dims = asked.dims}, request_.resident));
    int64_t begun = 0;  // where the document of a token begins
    const int64_t last = w.tokens() + (asks("next") ? 1 : 0);
    std::vector<int64_t> documents(static_cast<size_t>(w.rows));  // of each row's first token
    each_token(w, last, [&](int64_t at, uint32_t id, int64_t document, bool begins) {
      if (begins) begun = at;
      // The windows that hold the token, and those whose last target it is.
      for (int64_t row = std::min(at / w.stride, w.rows - 1); row >= 0 && at - row * w.stride <= w.length; --row) {
        const int64_t place = at - row * w.stride;
        if (place == 0) documents[static_cast<size_t>(row)] = document;
        for (size_t i = 0; i < to.size(); ++i) {
          const std::string& word = request_.columns[i].source();
          const ElementType type = table.columns[i].type;
          const auto put = [&](int64_t where, int64_t value) {
            store_integer(type, value, to[i] + (w.row(row) * w.length + where) * size_of(type));
          };
          if (word == "next" && place > 0) put(place - 1, parted() && begins ? kIgnoreIndex : int64_t{id});
          if (place == w.length) continue;
          if (word == "window") put(place, id);
          if (word == "document") put(place, document - documents[static_cast<size_t>(row)]);
          if (word == "position") put(place, std::min(place, at - begun));
        }
      }
    });
  }

  const ReaderRequest& request_;
  fs::path root_;
  Location where_;
  TextSettings settings_;
  std::vector<std::string> files_;
  TextUnit unit_ = TextUnit::characters;
  bool lines_ = false;
  std::unique_ptr<TextCoder> coder_;
};

std::vector<Key> keys() {
  std::vector<Key> all = {
      {.name = "file",
       .type = KeyType::path,
       .count = Count::several,
       .doc = "one or a list, in this order, plain or .gz; * stands for any part of a name",
       .required = true},
      {.name = "unit",
       .type = KeyType::text,
       .doc = "what a token is: characters, or tokens where there is a tokenizer",
       .words = {"characters", "bytes", "tokens"}},
      {.name = "range",
       .type = KeyType::real,
       .count = Count::list,
       .doc = "the part of the tokens that is read, such as [0, 0.9]: all",
       .range = ir::between(0, 1),
       .hint = "for example \"range\": [0, 0.9]"},
      {.name = "window", .type = KeyType::integer, .doc = "tokens of a row: those of the input"},
      {.name = "stride",
       .type = KeyType::integer,
       .doc = "from one window's first token to the next one's: the window",
       .range = ir::between(1, 0x1p31)},
      {.name = "documents",
       .type = KeyType::text,
       .doc = "what `begin` and `end` stand around",
       .fallback = std::string("files"),
       .words = {"files", "lines"}},
      {.name = "offsets",
       .type = KeyType::text,
       .doc = "\"drawn\": in training each window begins up to its length later, drawn by epoch and "
              "row",
       .fallback = std::string("fixed"),
       .words = {"fixed", "drawn"}},
      {.name = "strands",
       .type = KeyType::integer,
       .doc = "the text in so many parts: row n of each batch goes on where it stopped, for "
              "\"stateful\" layers",
       .range = ir::between(1, 0x1p31)}};
  for (const Key& key : text_keys())
    if (key.name != "padding") all.push_back(key);
  return all;
}

const RegisterReader tokens({
    .name = "tokens",
    .doc = "windows over a text; an input is a \"window\", what comes \"next\" after each of its tokens, the "
           "\"document\" of each, counted in the row, or its \"position\" there",
    .keys = keys(),
    .header = [](const ReaderRequest& request, const fs::path& root) { return TokenReader(request, root).header(); },
    .read = [](const ReaderRequest& request, const fs::path& root) { return TokenReader(request, root).read(); },
});

}  // namespace
}  // namespace heddle::runtime::data
