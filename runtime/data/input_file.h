// A data file being read from its beginning, plain or compressed by gzip, and how to complain about it.
//
//   InputFile in(path, "labels.gz", where);
//   in.read(buffer, 8);        // less than 8 only at the end of the file
//   in.fail("truncated");      // UserError at `where`: "labels.gz: truncated"
//
// The content says whether it is compressed; a name in .gz whose content is not is refused.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

bool named_gzip(std::string_view name);  // whether it ends in .gz
// Of a file that is named so and is not compressed: what is wrong, and what to do.
inline constexpr const char* kNoGzip = "its name ends in .gz, and its content is not compressed by gzip";
inline constexpr const char* kNoGzipHelp = "take .gz off its name";

// A training, and each of its splits, is of rows; a prediction of none makes none.
enum class Rows { some, any };
inline constexpr const char* kNoRowsHelp = "each split needs one row or more: look at what wrote the file";

class InputFile {
 public:
  InputFile(const std::filesystem::path& file, std::string name, const Location& where);
  // A descriptor that somebody else opened and closes, a pipe for example: never compressed.
  InputFile(int descriptor, std::string name, const Location& where);

  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const;
  // Reads up to `size` bytes; fewer only at the end of the file, and of a descriptor what is there: at least one.
  size_t read(std::byte* to, size_t size);
  // Whether `read` would return at once.
  bool ready() const;

 private:
  struct Stored;  // a file's bytes, and the state of their decompression
  struct Close {
    void operator()(Stored* stored) const;
  };
  void refuse_columns() const;
  size_t read_stored(std::byte* to, size_t size);
  size_t inflate_into(std::byte* to, size_t size);

  std::string name_;
  Location where_;
  std::unique_ptr<Stored, Close> stored_;
  int descriptor_ = -1;
};

}  // namespace heddle::runtime::data
