// A data file being read from its beginning, plain or compressed by gzip, and how to complain about it.
//
//   InputFile in(path, "labels.gz", where);
//   in.read(buffer, 8);        // less than 8 only at the end of the file
//   in.fail("truncated");      // UserError at `where`: "labels.gz: truncated"
#pragma once
#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "ir/diagnostic.h"

namespace heddle::runtime::data {

class InputFile {
 public:
  InputFile(const std::filesystem::path& file, std::string name, const Location& where);

  [[noreturn]] void fail(const std::string& message, const std::string& help = {}) const;
  // Reads up to `size` bytes; fewer only at the end of the file.
  size_t read(std::byte* to, size_t size);

 private:
  struct Close {
    void operator()(gzFile f) const { gzclose(f); }
  };
  std::string name_;
  Location where_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace heddle::runtime::data
