// InputFile: reads a data file from its beginning, plain or compressed by gzip. Errors name the file.
//
//   InputFile in(path, "labels.gz", where);
//   in.read(buffer, 8);        // less than 8 only at the end of the file
//   in.fail("truncated");      // UserError at `where`: "labels.gz: truncated"
//
// The content decides whether the file is compressed. A file whose name ends in .gz but whose content is not gzip is
// refused.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

bool named_gzip(std::string_view name);  // whether it ends in .gz
// The message and the remedy for a file that is named .gz and is not compressed.
inline constexpr const char* kNoGzip = "its name ends in .gz, and its content is not compressed by gzip";
inline constexpr const char* kNoGzipHelp = "take .gz off its name";

// Whether a file must have rows. Each split of a training must (some); a prediction may have none (any).
enum class Rows { some, any };
inline constexpr const char* kNoRowsHelp = "each split needs one row or more: look at what wrote the file";

class InputFile {
 public:
  InputFile(const std::filesystem::path& file, std::string name, const Location& where);
  // Reads from a descriptor that the caller opens and closes, such as a pipe. Its content is not decompressed.
  InputFile(int descriptor, std::string name, const Location& where);

  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const;
  // Reads up to `size` bytes. Of a file, fewer are read only at its end. Of a descriptor, it reads what has arrived, at
  // least one byte.
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
