// TextFile: a text file of a data set and its lines. The text is valid UTF-8 without NUL, plain or compressed by gzip.
//
//   TextFile file(root, "names/French.txt", where);
//   file.each_line([&](const TextLine& line) { ... });   // those that are not empty, without their ends
//   file.fail(89, 1, "no token for 'É'");                // UserError: "names/French.txt:89:1: no token for 'É'"
//
// A line ends with a line feed, with or without a carriage return before it. A byte order mark is left out.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

// The most bytes of one file after decompression. A larger text must be split into several files.
inline constexpr size_t kMostText = size_t{1} << 30;

struct TextLine {
  int64_t number = 0;  // counted from 1
  std::string_view text;
};

class TextFile {
 public:
  // Throws UserError. An error about the whole file has the location `where`. An error inside the text names its line
  // and column.
  TextFile(const std::filesystem::path& root, const std::string& name, const Location& where);

  std::string_view text() const { return std::string_view(file_.text).substr(mark_); }
  template <class F>
  void each_line(const F& f) const {
    const std::string_view all = text();
    int64_t number = 1;
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end + 1, ++number) {
      end = all.find('\n', begin);
      if (end == std::string_view::npos) end = all.size();
      std::string_view line = all.substr(begin, end - begin);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) f(TextLine{number, line});
    }
  }

  // Reads the line that begins at `at`, and moves `at` behind it. Also returns empty lines. Returns false at the end.
  bool next_line(size_t& at, TextLine& line) const;
  // The line and the column of a byte of text(). Both count from 1; columns are bytes.
  LineColumn place(size_t offset) const;
  [[noreturn]] void fail(int64_t line, int64_t column, const std::string& message, const std::string& help = {},
                         const std::vector<Diagnostic>& notes = {}) const;

 private:
  SourceFile file_;
  Location where_;
  size_t mark_ = 0;  // bytes of the byte order mark
};

// Rethrows an error whose location lies in a text that is about to be destroyed. The place becomes part of the message,
// "FILE:LINE:COLUMN: ...".
[[noreturn]] void rethrow_with_place(const UserError& error, const Location& where);

}  // namespace heddle::runtime::data
