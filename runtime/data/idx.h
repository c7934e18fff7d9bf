// Reads IDX files (the MNIST format): two zero bytes, an element type, a rank, big-endian sizes, then row-major
// big-endian elements.
//
//   00 00 08 03 | 0000ea60 0000001c 0000001c | 47040000 bytes -> u8[60000,28,28]
//
// Files may be gzip-compressed. Sizes are checked before anything of that size is allocated.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/element.h"
#include "runtime/data/input_file.h"

namespace heddle::runtime::data {

struct IdxArray {
  ElementType type = ElementType::u8;
  std::vector<int64_t> dims;     // the first counts the rows
  std::vector<std::byte> bytes;  // in the machine's byte order
};

inline constexpr int64_t kMaxIdxBytes = int64_t{1} << 36;  // 64 GiB of elements
inline constexpr int kMaxIdxRank = 8;

// `name` is the file as the user wrote it, for messages; `where` is the place in the model file. Reads the type and
// dims, but no elements.
IdxArray read_idx_header(const std::filesystem::path& file, const std::string& name, const Location& where,
                         Rows rows = Rows::some);
IdxArray read_idx(const std::filesystem::path& file, const std::string& name, const Location& where);

}  // namespace heddle::runtime::data
