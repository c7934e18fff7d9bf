// NumPy's files: the magic, a version, a header that is a Python dictionary, then the elements row by row.
//
//   \x93NUMPY 1 0 | 118 | {'descr': '<f4', 'fortran_order': False, 'shape': (1000, 28, 28), } | 3136000 bytes
//     -> f32[1000,28,28], mapped where it lies
//
// Versions 1 to 3 (numpy.lib.format). Types that no column has are widened as they are read: u2 becomes i32, u4 and u8
// become i64, f2 becomes f32, bool becomes u8; other byte orders are turned. Then the column lies in memory.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "ir/diagnostic.h"
#include "runtime/data/input_file.h"
#include "runtime/data/table.h"

namespace heddle::runtime::data {

// As the header has it.
struct NpyHeader {
  char kind = 'f';    // of the file's elements: f, i, u, b
  int64_t width = 4;  // bytes of one
  bool big_endian = false;
  std::vector<int64_t> dims;   // the first counts the rows
  int64_t begin = 0;           // of the elements, from the beginning of the header
  ElementType stored() const;  // of the column
  int64_t bytes() const;       // of all elements
  bool as_it_lies() const;     // the column's elements are those of the file
};

inline constexpr int64_t kMaxNpyHeader = 1 << 20;

// A reason why the bytes are no array that a column can hold, for messages: UserError at `where`
// that begins with `name`. `start` are at least the first bytes of the array, up to kMaxNpyHeader;
// `size` is the array's with its header.
NpyHeader parse_npy(std::string_view start, int64_t size, const std::string& name, const Location& where,
                    Rows rows = Rows::some);
// Gives the column the elements in its type.
void npy_elements(const NpyHeader& header, std::span<const std::byte> file_bytes, const std::string& name,
                  const Location& where, int64_t resident, Column& column);

// A file with one array.
NpyHeader read_npy_header(const std::filesystem::path& file, const std::string& name, const Location& where,
                          Rows rows = Rows::some);
Column read_npy(const std::filesystem::path& file, const std::string& name, const Location& where,
                int64_t resident = most_resident_bytes());

}  // namespace heddle::runtime::data
