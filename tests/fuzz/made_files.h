// Small well-formed files of every format that Heddle reads, for mutations to begin from, and files that lie in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

// Elements of a type of the format (8: u8, 13: f32), of so many bytes.
std::string idx_file(char type, size_t element, const std::vector<unsigned char>& dims);
std::string npy_file(const std::string& header, size_t bytes);
// An archive of members {name, content}, as zipfile writes it.
std::string zip_file(const std::vector<std::pair<std::string, std::string>>& members, bool deflated = false);
std::string gzip(const std::string& data);
std::string png_file();   // grey, 2 x 3, the pixels 1 to 6
std::string jpeg_file();  // grey, 2 x 3, the beginning of one
std::string wav_file();   // 40 samples of 16 bits at 8 kHz, after a list of remarks
std::string safetensors(const std::string& header, size_t data);
// With its last 16 bytes made the checksum of what stands before them.
std::string sealed(std::string content);

// Every input becomes a file, in memory: a disk would make a campaign ten times slower.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& holding(const std::string& content) const;
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace heddle::testing
